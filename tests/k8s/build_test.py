#!/usr/bin/python3
"""The whole Dockerfile, from a bare Debian: what someone with a network and no more gets.

Run by `tests/run.sh --long` only: it compiles the program once more, which the other tests take as it is built already.
"""
import json
import pathlib
import tempfile
import unittest

from support import manifests, podman
from support.programs import output_of

BASE, IMAGE = "localhost/bare-debian:12", "localhost/next-id-built:test"
BILL = "usr/share/doc/next-id/sbom.spdx.json"


def packages(image):
    root = pathlib.Path(podman.podman("image", "mount", image).strip())
    try:
        return {each["name"]: each["versionInfo"] for each in json.loads((root / BILL).read_text())["packages"]}
    finally:
        podman.podman("image", "unmount", image)


class Build(unittest.TestCase):
    def test_the_dockerfile_builds_from_a_bare_debian(self):
        with tempfile.TemporaryDirectory() as folder:
            mirror = output_of("apt-get", "indextargets", "--format", "$(SITE)").split()[0]
            output_of("debootstrap", "--variant=minbase", "bookworm", f"{folder}/root", mirror, timeout=600)
            output_of("tar", "-C", f"{folder}/root", "-cf", f"{folder}/root.tar", ".")
            podman.podman("import", f"{folder}/root.tar", BASE)
        self.addCleanup(podman.podman, "rmi", "--force", BASE, IMAGE)
        # With this machine's way to Debian's packages.
        podman.podman("build", "--network=host", "--volume=/etc/apt:/etc/apt:ro",
                      f"--build-arg=BASE={BASE}", "--build-arg=REVISION=test",
                      "--file", manifests.ROOT / "k8s/Dockerfile", "--tag", IMAGE, manifests.ROOT, timeout=3000)
        said = podman.podman("run", "--rm", "--network=none", "--read-only", IMAGE, "--version")
        self.assertEqual(said, podman.podman("run", "--rm", "--network=none", podman.NEXT_ID, "--version"))
        self.assertEqual(set(packages(IMAGE)), set(packages(podman.NEXT_ID)))


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
