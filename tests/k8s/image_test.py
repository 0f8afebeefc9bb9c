#!/usr/bin/python3
"""The image is small, with nothing in it but the program and what it loads, and its bill of materials says just that."""
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import tempfile
import unittest

from support import manifests, podman
from support.cluster import wait_until
from support.podman import NEXT_ID
from support.programs import output_of

BILL = "usr/share/doc/next-id/sbom.spdx.json"
MIB = 2**20


class Counted:
    def __init__(self):
        self.bytes = 0

    def write(self, data):
        self.bytes += len(data)
        return len(data)


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        podman.make_images()
        cls.root = pathlib.Path(podman.podman("image", "mount", NEXT_ID).strip())
        cls.addClassCleanup(podman.podman, "image", "unmount", NEXT_ID)
        cls.config = json.loads(podman.podman("image", "inspect", NEXT_ID))[0]
        cls.files = [file for file in cls.root.rglob("*") if not file.is_symlink() and file.is_file()]

    def test_it_is_small(self):
        whole = self.config["Size"] / MIB
        compressed = Counted()
        with gzip.open(compressed, "wb", 6) as packed:
            for file in self.files:
                packed.write(file.read_bytes())
        print(f"\n{whole:.1f} MiB, compressed {compressed.bytes / MIB:.1f} MiB, ", end="")
        self.assertLessEqual(whole, 30)
        self.assertLessEqual(compressed.bytes / MIB, 12)

    def test_it_says_what_it_is(self):
        labels = self.config["Labels"]
        said = podman.podman("run", "--rm", "--network=none", NEXT_ID, "--version").strip()
        self.assertEqual(said, f"next-id {labels['org.opencontainers.image.version']}")
        for name in ("title", "description", "revision", "licenses"):
            self.assertTrue(labels[f"org.opencontainers.image.{name}"])

    def test_its_user_is_a_number_and_not_root(self):
        self.assertEqual(self.config["User"], "65532:65532")

    def test_there_is_nothing_in_it_to_call_but_the_program(self):
        executable = {file for file in self.files if os.access(file, os.X_OK) and ".so" not in file.name}
        self.assertEqual(executable, {self.root / "usr/bin/next-id"})
        for file in [*self.files, *(each for each in self.root.rglob("*") if each.is_dir())]:
            mode = file.lstat().st_mode
            self.assertFalse(mode & (stat.S_ISUID | stat.S_ISGID), file)
            self.assertFalse(mode & stat.S_IWOTH and not mode & stat.S_ISVTX, f"{file} can be written by everyone")
        sections = output_of("readelf", "-SW", self.root / "usr/bin/next-id")
        self.assertIn(".text", sections)
        self.assertNotIn(".symtab", sections, "it is not stripped")

    def test_the_bill_of_materials_lists_each_library_in_it(self):
        bill = json.loads((self.root / BILL).read_text())
        self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
        listed = {file["fileName"].removeprefix("./"): file["checksums"] for file in bill["files"]}
        self.assertEqual(set(listed), {str(file.relative_to(self.root)) for file in self.files if ".so" in file.name})
        for name, checksums in listed.items():
            for checksum in checksums:
                found = hashlib.new(checksum["algorithm"].lower(), (self.root / name).read_bytes()).hexdigest()
                self.assertEqual(found, checksum["checksumValue"], name)

    def test_the_bill_of_materials_names_packages_as_dpkg_does(self):
        bill = json.loads((self.root / BILL).read_text())
        packages = {package["name"]: package["versionInfo"] for package in bill["packages"]}
        related = {(each["relationshipType"], each["relatedSpdxElement"].removeprefix("SPDXRef-"))
                   for each in bill["relationships"]}
        for name in ("libpq5", "libssl3", "libuv1", "libc6"):
            self.assertIn(("DYNAMIC_LINK", name), related)
        # Headers and sources: their code is in the program, though no file of theirs is in the image.
        for name in ("node-llhttp", "rapidjson-dev", "libcli11-dev"):
            self.assertIn(("STATIC_LINK", name), related)
        for name, version in packages.items():
            if name == "next-id":
                continue
            self.assertIn(version, output_of("dpkg-query", "-W", "-f", "${Version}\n", name).split("\n"), name)
            self.assertTrue((self.root / f"usr/share/doc/{name}/copyright").stat().st_size, name)
        # Each thing that is named is there, and each has a name of its own.
        names = [each["SPDXID"] for each in bill["packages"] + bill["files"]] + ["SPDXRef-DOCUMENT"]
        self.assertEqual(len(set(names)), len(names))
        for each in bill["relationships"]:
            self.assertLessEqual({each["spdxElementId"], each["relatedSpdxElement"]}, set(names))

    def test_what_it_loads_when_it_runs_is_in_the_bill(self):
        name = f"next-id-image-test-{os.getpid()}"
        podman.podman("run", "--detach", "--name", name, "--network=none", "--read-only", "--read-only-tmpfs=false",
                      "--cap-drop=all", "--env=PG_PASSWORD=x", "--tmpfs=/run/next-id", NEXT_ID)
        self.addCleanup(podman.podman, "rm", "--force", "--time=0", name)
        # It has met PostgreSQL's library and the resolver then.
        wait_until(lambda: "no connection to PostgreSQL" in podman.logs(name), "it asked for PostgreSQL")
        process = podman.podman("container", "inspect", "--format={{.State.Pid}}", name).strip()
        mapped = set(re.findall(r" r-x.* /(\S+)$", pathlib.Path(f"/proc/{process}/maps").read_text(), re.M))
        mapped = {os.path.basename(file) for file in mapped if (self.root / file).exists()} - {"next-id"}
        bill = json.loads((self.root / BILL).read_text())
        self.assertGreater(len(mapped), 10)
        self.assertLessEqual(mapped, {os.path.basename(file["fileName"]) for file in bill["files"]})

    def test_it_knows_the_public_authorities(self):
        authorities = (self.root / "etc/ssl/certs/ca-certificates.crt").read_text()
        self.assertGreater(authorities.count("BEGIN CERTIFICATE"), 100)

    def test_the_dockerfile_copies_what_the_build_reads(self):
        file = manifests.ROOT / "k8s/Dockerfile"
        copied = [path for line in re.findall(r"^COPY (?!--)(.*)", file.read_text(), re.M) for path in line.split()[:-1]]
        sent = (manifests.ROOT / "k8s/Dockerfile.dockerignore").read_text().split()
        with tempfile.TemporaryDirectory() as folder:
            for path in copied:
                self.assertTrue({f"!{path}", f"!{path.split('/')[0]}"} & set(sent), f"the context leaves {path} out")
                place = pathlib.Path(folder) / path
                place.parent.mkdir(parents=True, exist_ok=True)
                source = manifests.ROOT / path
                shutil.copytree(source, place) if source.is_dir() else shutil.copy(source, place)
            output_of("cmake", "--preset", "release", "-DNEXT_ID_TESTS=OFF", cwd=folder)
            # Without a build, missing sources are found so, and missing headers are not.
            output_of("ninja", "-C", "build/release", "-n", "next-id", cwd=folder)

    def test_without_settings_it_says_what_it_needs(self):
        with self.assertRaisesRegex(AssertionError, "ended with 78: .*PG_PASSWORD not set"):
            podman.podman("run", "--rm", "--network=none", "--read-only", NEXT_ID)


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
