#!/usr/bin/python3
"""The programs of examples/, run as examples/README.md says: with a sidecar, beside one that is dry, and without one."""
import re
import subprocess
import unittest

from support import toolchains
from support.processes import ROOT, Postgres, Sidecar

LAST = 2**63 - 1


def commands():
    """By language, from the table."""
    table = re.search(r"<!-- languages -->\n(.*?)<!-- /languages -->", (ROOT / "examples/README.md").read_text(), re.S)[1]
    return dict(re.findall(r"^\| \[(.*?)\]\(.*?\| `([^`]*)` \|$", table, re.M))


class Languages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workshop = cls.enterClassContext(toolchains.Workshop())
        cls.commands = {language: cls.build(commands()[language]) for language in toolchains.there()}
        cls.postgres = cls.enterClassContext(Postgres())
        cls.postgres.sql(f"CREATE SEQUENCE ordinary; CREATE SEQUENCE near_the_end START {LAST - 100}")

    @classmethod
    def build(cls, command):
        """Runs what comes before &&, and returns what comes after."""
        building, _, running = command.rpartition(" && ")
        if building:
            subprocess.run(building, shell=True, check=True, cwd=cls.workshop.folder, env=cls.workshop.environment)
        return running

    def run_program(self, command, environment):
        done = subprocess.run(command, shell=True, cwd=self.workshop.folder, env=self.workshop.environment | environment, capture_output=True,
                              text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def assert_ids(self, sequence, first):
        """IDs of all languages from the first one on: none is left out and none comes twice."""
        wanted = first
        with Sidecar(self.postgres, sequence) as sidecar:
            for language, command in self.commands.items():
                with self.subTest(language):
                    printed = f"id {wanted}\nids {wanted + 1} {wanted + 2} {wanted + 3}\n"
                    self.assertEqual(self.run_program(command, sidecar.client_environment()), (0, printed, ""))
                wanted += 4

    def assert_refused(self, environment, reason):
        for language, command in self.commands.items():
            with self.subTest(language):
                exit_code, printed, sentence = self.run_program(command, environment)
                self.assertRegex(sentence, rf"(?s)^no ID (from|with) .*{reason}")
                self.assertEqual((exit_code, printed), (1, ""))

    def test_every_language_gets_ids(self):
        self.assert_ids("ordinary", 1)

    def test_every_language_reads_ids_near_the_end_exactly(self):
        self.assert_ids("near_the_end", LAST - 100)

    def test_every_language_is_told_why_there_is_no_id(self):
        with Sidecar(None, WAIT_MAX="0s") as dry:
            self.assert_refused(dry.client_environment(), "503.*connect postgresql failed")

    def test_every_language_is_told_where_no_sidecar_is(self):
        nowhere = self.workshop.folder / "no-sidecar"
        self.assert_refused({"NEXT_ID_SOCKET": str(nowhere), "NEXT_ID_HTTP": "127.0.0.1:1"}, f"({nowhere}|127.0.0.1:1)")

    def test_the_table_has_them_all(self):
        self.assertEqual(set(commands()), set(toolchains.TOOLCHAINS))


if __name__ == "__main__":
    unittest.main(verbosity=2)
