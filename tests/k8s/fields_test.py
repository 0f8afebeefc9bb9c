#!/usr/bin/python3
"""Kubernetes knows every field, from the oldest version that is promised to a current one.

kustomize passes on what it does not know, and so does an API server, after a warning that few read.
"""
import os
import pathlib
import shutil
import unittest

from support import manifests
from support.programs import output_of

# Versions of @kubernetes/client-node, by the version of Kubernetes whose types they have.
CURRENT, LEAST, BEFORE_SIDECARS = "1.4.0", "0.21.0", "0.19.0"  # 1.34, 1.29, 1.27
FOLDER = pathlib.Path(os.environ.get("NEXT_ID_BUILD_DIR", manifests.ROOT / "build/release")) / "k8s"


def types_of(version):
    """Fetches the package, once; only the generated types, which need nothing else."""
    place = FOLDER / f"client-node-{version}"
    if not place.exists():
        making = pathlib.Path(f"{place}.{os.getpid()}")
        making.mkdir(parents=True)
        packed = output_of("npm", "pack", "--silent", f"@kubernetes/client-node@{version}", cwd=making).split()[-1]
        output_of("tar", "-xzf", packed, "--strip-components=1", "package/package.json", "package/dist/gen", cwd=making)
        (making / packed).unlink()
        try:
            making.rename(place)
        except OSError:  # another test was faster
            shutil.rmtree(making)
    return place


class Fields(unittest.TestCase):
    def assert_known(self, version, names):
        for name in names:
            with self.subTest(name):
                self.assertEqual(manifests.unknown_fields(types_of(version), manifests.load(name)), [])

    def test_a_current_kubernetes_knows_them(self):
        self.assert_known(CURRENT, manifests.KUSTOMIZATIONS)

    def test_kubernetes_1_29_knows_them(self):
        self.assert_known(LEAST, manifests.KUSTOMIZATIONS)

    def test_a_plain_container_does_before_1_29(self):
        self.assert_known(BEFORE_SIDECARS, ["base", "base-sql", "plain-container"])

    def test_a_sidecar_does_not_before_1_29(self):
        field = "Deployment/orders.spec.template.spec.initContainers[0].restartPolicy"
        self.assertEqual(manifests.unknown_fields(types_of(BEFORE_SIDECARS), manifests.load("deployment")),
                         [f"{field}: V1Container has no such field"])

    def test_the_check_sees_wrong_names_and_types(self):
        deployment = manifests.one(manifests.load("deployment"), "Deployment")
        sidecar = manifests.pod_template(deployment)["spec"]["initContainers"][0]
        sidecar["livenessProbe"]["periodSecond"] = sidecar["livenessProbe"].pop("periodSeconds")
        sidecar["startupProbe"]["failureThreshold"] = "60"
        where = "Deployment/orders.spec.template.spec.initContainers[0]"
        self.assertEqual(sorted(manifests.unknown_fields(types_of(CURRENT), [deployment])),
                         [f"{where}.livenessProbe.periodSecond: V1Probe has no such field",
                          f"{where}.startupProbe.failureThreshold: takes a number, not \"60\""])


if __name__ == "__main__":
    unittest.main(verbosity=2)
