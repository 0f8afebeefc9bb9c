"""The kustomizations of k8s/, what they render to, and the pods in it.

kubectl is in no package of Debian, so what they render to is kept in tests/k8s/rendered, together with a digest of what it was
made from; all tests but one read that. After a change: tests/k8s/render.py, with kubectl. The scripts of sql/ are named
there and not copied, so that they can change without.
"""
import hashlib
import json
import pathlib
import shutil
import tempfile

import yaml

from support.programs import output_of

ROOT = pathlib.Path(__file__).resolve().parents[3]
RENDERED = ROOT / "tests/k8s/rendered"
DIGEST = RENDERED / "sources.sha256"

KUSTOMIZATIONS = {"base": "k8s/base", "base-sql": "k8s/base/sql", "kinds": "tests/k8s/kinds", "shared": "tests/k8s/shared",
                  "together": "tests/k8s/together"} | {
    folder.name: f"k8s/examples/{folder.name}" for folder in sorted((ROOT / "k8s/examples").iterdir())}

# What the user of k8s/base writes, and never commits.
SECRETS = {"k8s/base/password": "secret\n", "k8s/base/sql/owner.env": "PGUSER=postgres\nPGPASSWORD=secret\n"}


def sources():
    """All files that kustomize reads, but scripts of sql/."""
    folders = [ROOT / name for name in ("k8s/base", "k8s/component", "k8s/examples", "sql", "tests/k8s/kinds", "tests/k8s/shared",
                                       "tests/k8s/together")]
    secrets = {ROOT / name for name in SECRETS}
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in (".yaml", ".env")]
    return sorted(set(files) - secrets)


def digest_of_sources():
    digest = hashlib.sha256()
    for file in sources():
        digest.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def copy_sources(place):
    """As a user has them who has filled in what is to be filled in."""
    for file in sources() + list((ROOT / "sql").glob("*.sql")):
        copy = place / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    for name, text in SECRETS.items():
        (place / name).write_text(text)


def render_all():
    """Name -> YAML text, by kubectl."""
    with tempfile.TemporaryDirectory() as folder:
        copy_sources(pathlib.Path(folder))
        return {name: without_scripts(output_of("kubectl", "kustomize", f"{folder}/{place}"))
                for name, place in KUSTOMIZATIONS.items()}


def without_scripts(rendered):
    if ".sql: |" not in rendered:
        return rendered
    objects = list(yaml.safe_load_all(rendered))
    for each in objects:
        for name, text in each.get("data", {}).items():
            if name.endswith(".sql"):
                assert text == (ROOT / "sql" / name).read_text()
                each["data"][name] = f"sql/{name}"
    return yaml.safe_dump_all(objects)


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
    return output_of("node", ROOT / "tests/k8s/fields.mjs", package, input=json.dumps(objects)).splitlines()
