#!/usr/bin/python3
"""What the documents show is what happens: each line that they tell people to type is run, and what it prints compared with what
they print below it."""
import unittest

from support import console
from support.processes import ROOT
from support.sidecars import Sidecars


class Documents(unittest.TestCase):
    maxDiff = None

    def assert_shows_what_happens(self, document):
        text = (ROOT / document).read_text()
        examples = list(console.examples(text))
        self.assertGreaterEqual(len(examples), text.count("```console"))
        with Sidecars() as sidecars:
            for sidecar, command, shown in examples:
                with self.subTest(f"{sidecar}: {command}"):
                    printed = console.run(command, sidecars[sidecar])
                    if not console.agrees(shown, printed):
                        self.assertEqual(shown, printed)

    def test_the_contract(self):
        self.assert_shows_what_happens("protocol/README.md")

    def test_the_readme(self):
        self.assert_shows_what_happens("README.md")


if __name__ == "__main__":
    unittest.main(verbosity=2)
