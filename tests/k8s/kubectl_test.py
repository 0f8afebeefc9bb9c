#!/usr/bin/python3
"""What kubectl says of the manifests, where there is one: kustomize builds them, and kubectl knows every field."""
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import yaml

from support import manifests
from support.programs import output_of


def paths_of(value, path=""):
    if isinstance(value, dict):
        return {path}.union(*(paths_of(each, f"{path}.{key}") for key, each in value.items()))
    if isinstance(value, list):
        return {path}.union(*(paths_of(each, f"{path}[{i}]") for i, each in enumerate(value)))
    return {path}


def lost(workload):
    """Decodes it into typed objects and back, without a server; what kubectl does not know is gone then."""
    typed = output_of("kubectl", "set", "env", "--local", "-f", "-", "-o", "json", "ANY=1", input=json.dumps(workload))
    return paths_of(workload) - paths_of(json.loads(typed))


class Kubectl(unittest.TestCase):
    def test_kustomize_builds_what_the_other_tests_read(self):
        for name, text in manifests.render_all().items():
            with self.subTest(name):
                self.assertEqual(list(yaml.safe_load_all(text)), manifests.load(name))

    def test_the_line_of_the_readme_adds_the_sidecar(self):
        blocks = re.findall(r"```yaml\n(.*?)```", (manifests.ROOT / "k8s/README.md").read_text(), re.S)
        kustomization, patches = blocks[0], blocks[2]
        self.assertIn("components:", kustomization)
        with tempfile.TemporaryDirectory() as folder:
            user = pathlib.Path(folder)
            manifests.copy_sources(user / "next-id")
            shutil.copy(user / "next-id/k8s/examples/deployment/orders/deployment.yaml", user)
            (user / "kustomization.yaml").write_text(kustomization + patches)
            built = output_of("kubectl", "kustomize", user)
        sidecar = yaml.safe_load(built)["spec"]["template"]["spec"]["initContainers"][0]
        self.assertEqual((sidecar["name"], sidecar["image"]), ("next-id", "registry.example/next-id:0.1.0"))
        self.assertEqual(sidecar["resources"]["limits"], {"memory": "256Mi"})
        self.assertIn({"name": "NEXT_ID_HTTP", "value": "none"}, sidecar["env"])

    def test_no_field_gets_lost(self):
        for name in manifests.KUSTOMIZATIONS:
            for workload in filter(manifests.pod_template, manifests.load(name)):
                with self.subTest(f"{name}: {workload['kind']} {workload['metadata']['name']}"):
                    self.assertEqual(lost(workload), set())

    def test_a_field_that_is_wrong_gets_lost(self):
        deployment = manifests.one(manifests.load("deployment"), "Deployment")
        sidecar = manifests.pod_template(deployment)["spec"]["initContainers"][0]
        sidecar["restartPolicyy"] = sidecar.pop("restartPolicy")
        self.assertEqual(lost(deployment), {".spec.template.spec.initContainers[0].restartPolicyy"})


if __name__ == "__main__":
    if not shutil.which("kubectl"):
        print("kubectl is missing, of which Debian has no package: not checked here: does kustomize still build the manifests?")
        sys.exit(77)
    unittest.main(verbosity=2)
