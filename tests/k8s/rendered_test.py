#!/usr/bin/python3
"""What the tests read was made from the manifests as they are. (That it was made rightly, kubectl_test.py sees.)"""
import unittest

from support import manifests


class Rendered(unittest.TestCase):
    def test_it_was_rendered_from_these_sources(self):
        self.assertEqual(manifests.DIGEST.read_text().strip(), manifests.digest_of_sources(),
                         "the manifests have changed since: tests/k8s/render.py renders them again, with kubectl")


if __name__ == "__main__":
    unittest.main(verbosity=2)
