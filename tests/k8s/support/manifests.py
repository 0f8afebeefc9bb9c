#!/usr/bin/python3
"""The kustomizations of k8s/, what they render to, and the pods in it.

kubectl is in no package of Debian, so what they render to is kept in tests/k8s/rendered, together with a digest of what it was
made from; all tests but one read that. After a change: tests/k8s/support/manifests.py (with kubectl).
"""
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
RENDERED = ROOT / "tests/k8s/rendered"
DIGEST = RENDERED / "sources.sha256"

KUSTOMIZATIONS = {"base": "k8s/base", "base-sql": "k8s/base/sql", "kinds": "tests/k8s/kinds"} | {
    folder.name: f"k8s/examples/{folder.name}" for folder in sorted((ROOT / "k8s/examples").iterdir())}

# What the user of k8s/base writes, and never commits.
SECRETS = {"k8s/base/password": "secret\n", "k8s/base/sql/owner.env": "PGUSER=postgres\nPGPASSWORD=secret\n"}


def sources():
    """All files that kustomize may read."""
    folders = [ROOT / name for name in ("k8s/base", "k8s/component", "k8s/examples", "sql", "tests/k8s/kinds")]
    endings = {".yaml", ".env", ".sql"}
    secrets = {ROOT / name for name in SECRETS}
    return sorted(file for folder in folders for file in folder.rglob("*") if file.suffix in endings and file not in secrets)


def digest_of_sources():
    digest = hashlib.sha256()
    for file in sources():
        digest.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def render_all():
    """Name -> YAML text, by kubectl."""
    with tempfile.TemporaryDirectory() as copy:
        for file in sources():
            place = pathlib.Path(copy) / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        for name, text in SECRETS.items():
            (pathlib.Path(copy) / name).write_text(text)
        return {name: subprocess.run(["kubectl", "kustomize", f"{copy}/{folder}"], check=True, capture_output=True, text=True).stdout
                for name, folder in KUSTOMIZATIONS.items()}


def load(name):
    """The objects of a kustomization, as it was rendered."""
    return [one for one in yaml.safe_load_all((RENDERED / f"{name}.yaml").read_text()) if one]


def one(objects, kind, name=None):
    found = [each for each in objects if each["kind"] == kind and name in (None, each["metadata"]["name"])]
    assert len(found) == 1, f"{len(found)} objects are a {kind} {name or ''}"
    return found[0]


def pod_template(workload):
    """The pod template of a workload, None for what has none."""
    spec = workload.get("spec", {})
    return spec.get("jobTemplate", {"spec": spec})["spec"].get("template")


def unknown_fields(package, objects):
    """What the types of that version of @kubernetes/client-node do not know."""
    done = subprocess.run(["node", ROOT / "tests/k8s/fields.mjs", package], check=True, capture_output=True, text=True,
                          input=json.dumps(objects))
    return done.stdout.splitlines()


if __name__ == "__main__":
    if not shutil.which("kubectl"):
        sys.exit("kubectl is missing, which renders the manifests")
    shutil.rmtree(RENDERED, ignore_errors=True)
    RENDERED.mkdir()
    for name, text in render_all().items():
        (RENDERED / f"{name}.yaml").write_text(text)
    DIGEST.write_text(digest_of_sources() + "\n")
