"""Packages of npm, kept in the build folder. What they are is said by a package-lock.json, to the byte."""
import fcntl
import filecmp
import shutil
import subprocess

from support.processes import BUILD, ROOT


def install(source):
    """A copy of this folder of the tree, at the same place below the build folder, with its packages beside it."""
    place = BUILD / "npm" / source.relative_to(ROOT)
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two tests may want it
        wanted, there = source / "package-lock.json", place / "installed-lock.json"
        shutil.copytree(source, place, dirs_exist_ok=True)
        if not there.exists() or not filecmp.cmp(wanted, there, shallow=False):
            there.unlink(missing_ok=True)
            done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=place, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            assert done.returncode == 0, f"npm cannot fetch what {source} needs; is the network there?\n{done.stdout}"
            shutil.copy(wanted, there)
    return place
