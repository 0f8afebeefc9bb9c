"""podman with an image store of its own, and the images that the pods of tests are made of.

Everything of it lies in the build folder, but for what podman wants in a short path.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from support import manifests
from support.programs import output_of

BUILD = pathlib.Path(os.environ.get("NEXT_ID_BUILD_DIR", manifests.ROOT / "build/release"))
STORE = BUILD / "k8s"
RUN = pathlib.Path("/tmp/next-id-k8s-" + hashlib.sha256(str(STORE).encode()).hexdigest()[:8])

NEXT_ID = re.search(r"image: (next-id:\S+)", (manifests.ROOT / "k8s/component/pod/pod.yaml").read_text())[1]
# One image of ours stands for those that the manifests name: no registry is asked.
APPLICATION = ["docker.io/curlimages/curl:8.10.1", "docker.io/library/postgres:17-alpine"]

# runc and cgroupfs: crun wants cgroups of version 2, and there may be no systemd. And limits that root can set without
# CAP_SYS_RESOURCE.
SETTINGS = """[containers]
default_ulimits = ["nofile=16384:16384", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
"""


def need():
    """Ends the test, with the reason, where pods cannot be run."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    programs = {"podman": "podman", "runc": "runc", "ip": "iproute2", "busybox": "busybox-static", "psql": "postgresql"}
    missing = [package for program, package in programs.items() if not shutil.which(program, path=path)]
    if missing:
        sys.exit(f"pods cannot be run here: apt-get install {' '.join(missing)}")
    if os.geteuid() != 0:
        sys.exit("pods cannot be run here: only root can make the network namespaces that they run in")
    if not (BUILD / "next-id").exists():
        sys.exit(f"there is no {BUILD}/next-id to run: cmake --build --preset release --target next-id")
    try:
        output_of("unshare", "--net", "--mount", "true")
        make_images()
        podman("run", "--rm", "--network=none", NEXT_ID, "--version")
    except AssertionError as why:
        sys.exit(f"pods cannot be run here: {why}")


def podman(*arguments, inside=None, **options):
    """Runs it, perhaps inside of a network namespace, and returns what it printed."""
    STORE.mkdir(parents=True, exist_ok=True)
    settings = STORE / "containers.conf"
    if not settings.exists():
        settings.write_text(SETTINGS)
    enter = ["nsenter", f"--net=/var/run/netns/{inside}"] if inside else []
    store = ["--root", STORE / "store", "--runroot", RUN / "run", "--tmpdir", RUN / "tmp"]
    options = {"cwd": STORE, "env": os.environ | {"CONTAINERS_CONF": str(settings)}} | options
    return output_of(*enter, "podman", *store, *arguments, **options)


def logs(container):
    """Its standard output and error."""
    return podman("logs", container, stderr=subprocess.STDOUT)


@contextlib.contextmanager
def alone():
    """Only one test at a time makes images."""
    STORE.mkdir(parents=True, exist_ok=True)
    with open(STORE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_images():
    """Those of the program as it is now, unless they are there."""
    program = hashlib.sha256((BUILD / "next-id").read_bytes()).hexdigest()
    parts = [manifests.ROOT / "k8s/Dockerfile", manifests.ROOT / "k8s/rootfs.sh", pathlib.Path(__file__)]
    made_of = program + "".join(hashlib.sha256(part.read_bytes()).hexdigest() for part in parts)
    with alone():
        note = STORE / "made-of"
        if note.exists() and note.read_text() == made_of:
            return
        with tempfile.TemporaryDirectory() as folder:
            make_next_id(pathlib.Path(folder))
            make_application(pathlib.Path(folder))
        warm = podman("pod", "create", "--network", "none").strip()  # makes the image of what holds a pod together
        podman("pod", "rm", warm)
        note.write_text(made_of)


def make_next_id(folder):
    """The last stage of the Dockerfile, over a program that is built already."""
    output_of(manifests.ROOT / "k8s/rootfs.sh", BUILD, folder / "build/rootfs")
    stages = (manifests.ROOT / "k8s/Dockerfile").read_text()
    (folder / "Dockerfile").write_text(stages[stages.index("\nFROM scratch"):])
    podman("build", "--layers=false", "--file", folder / "Dockerfile", "--build-context", f"build={folder}/build",
           "--tag", NEXT_ID, folder)


def make_application(folder):
    """What an application and a database's owner need: a shell, curl and psql."""
    root = folder / "application"
    psql = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1]
    for program in [pathlib.Path(shutil.which("curl")), psql]:
        for library in re.findall(r"/\S+", output_of("ldd", program)):
            copy(library, root / library.lstrip("/"))
        copy(program, root / "bin" / program.name)
    copy(shutil.which("busybox"), root / "bin/busybox")
    for applet in ("sh", "cat", "echo", "sleep", "tr", "seq"):
        (root / "bin" / applet).symlink_to("busybox")
    (root / "Dockerfile").write_text("FROM scratch\nCOPY . /\n")
    podman("build", "--layers=false", *(f"--tag={name}" for name in APPLICATION), root)


def copy(file, place):
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, place)


def remove_all():
    """The store, and what an interrupted test has left running in it."""
    if not (STORE / "store").exists():
        return
    with alone():
        with contextlib.suppress(AssertionError):  # there may be none
            podman("pod", "kill", "--all")
        podman("pod", "rm", "--all", "--force", "--time", "0")
        podman("rmi", "--all", "--force")
        (STORE / "made-of").unlink(missing_ok=True)
        subprocess.run(["umount", "--quiet", STORE / "store/overlay"])  # which it mounts over itself
        shutil.rmtree(STORE / "store")
        shutil.rmtree(RUN)


if __name__ == "__main__":
    remove_all()
