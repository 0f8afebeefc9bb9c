#!/usr/bin/python3
"""What the tests read is what kustomize makes of k8s/."""
import shutil
import unittest

import yaml

from support import manifests


class Rendered(unittest.TestCase):
    def test_it_was_rendered_from_these_sources(self):
        self.assertEqual(manifests.DIGEST.read_text().strip(), manifests.digest_of_sources(),
                         "the manifests have changed since: tests/k8s/support/manifests.py renders them again, with kubectl")

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is missing (Debian has no package of it): whether the manifests "
                         "still build is not checked here, only that they are the ones that did")
    def test_kustomize_builds_all_of_them_and_to_just_that(self):
        for name, text in manifests.render_all().items():
            with self.subTest(name):
                self.assertEqual(list(yaml.safe_load_all(text)), list(yaml.safe_load_all((manifests.RENDERED / f"{name}.yaml").read_text())))


if __name__ == "__main__":
    unittest.main(verbosity=2)
