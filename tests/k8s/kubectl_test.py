#!/usr/bin/python3
"""What kubectl says of the manifests, where there is one: kustomize builds them, and kubectl's own types know every field."""
import json
import shutil
import subprocess
import sys
import unittest

import yaml

from support import manifests


def paths_of(value, path=""):
    if isinstance(value, dict):
        return {path}.union(*(paths_of(each, f"{path}.{key}") for key, each in value.items()))
    if isinstance(value, list):
        return {path}.union(*(paths_of(each, f"{path}[{i}]") for i, each in enumerate(value)))
    return {path}


def lost(workload):
    """Decodes it into typed objects and back, without a server; what kubectl does not know is gone then."""
    done = subprocess.run(["kubectl", "set", "env", "--local", "-f", "-", "-o", "json", "ANY=1"], check=True, capture_output=True,
                          text=True, input=json.dumps(workload))
    return paths_of(workload) - paths_of(json.loads(done.stdout))


class Kubectl(unittest.TestCase):
    def test_kustomize_builds_what_the_other_tests_read(self):
        for name, text in manifests.render_all().items():
            with self.subTest(name):
                self.assertEqual(list(yaml.safe_load_all(text)), list(yaml.safe_load_all((manifests.RENDERED / f"{name}.yaml").read_text())))

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
        print("kubectl is missing, of which Debian has no package: that kustomize still builds the manifests is not checked here")
        sys.exit(77)
    unittest.main(verbosity=2)
