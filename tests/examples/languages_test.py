#!/usr/bin/python3
"""The programs of examples/, run as examples/README.md says: with a sidecar, beside one that is dry, and without one.

A language whose toolchain is missing is skipped only if that takes long to install; with NEXT_ID_LONG=1 none is.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support.processes import BUILD, ROOT, Postgres, Sidecar

# What each needs, and the packages of Debian that have it.
TOOLCHAINS = {"shell": ("curl", "curl"), "C++": ("g++", "g++"), "C": ("gcc", "gcc"), "Python": ("python3", "python3"),
              "Node.js": ("node", "nodejs"), "Go": ("go", "golang-go"), "Java": ("java", "openjdk-17-jdk-headless"),
              "Ruby": ("ruby", "ruby"), "PHP": ("php", "php-cli php-curl"), "Rust": ("rustc", "rustc")}
SLOW_TO_INSTALL = {"Java"}
LAST = 2**63 - 1


def commands():
    """By language, from the table."""
    table = re.search(r"<!-- languages -->\n(.*?)<!-- /languages -->", (ROOT / "examples/README.md").read_text(), re.S)[1]
    return dict(re.findall(r"^\| \[(.*?)\]\(.*?\| `([^`]*)` \|$", table, re.M))


def client_library(folder):
    """What `cmake --install` would leave behind for pkg-config, of the library in the build tree."""
    sanitize = os.environ.get("NEXT_ID_SANITIZE")
    flags = f"-fsanitize={sanitize}" if sanitize else ""
    (folder / "next_id.pc").write_text(
        f"Name: next_id\nDescription: not installed\nVersion: 0\nCflags: -I{ROOT}/protocol/client/include {flags}\n"
        f"Libs: -L{BUILD}/protocol/client -lnext_id {flags}\n")
    return {"PKG_CONFIG_PATH": str(folder), "LD_LIBRARY_PATH": str(BUILD / "protocol/client")}


class Languages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="next-id-examples.")))
        (cls.folder / "examples").symlink_to(ROOT / "examples")
        cls.environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "GOCACHE": str(BUILD / "go-cache")} | client_library(cls.folder)
        cls.commands, skipped = {}, []
        for language, command in commands().items():
            program, packages = TOOLCHAINS[language]
            if shutil.which(program):
                cls.commands[language] = cls.build(command)
            elif language in SLOW_TO_INSTALL and not os.environ.get("NEXT_ID_LONG"):
                skipped.append(f"{language} (no {program}: apt-get install {packages})")
            else:
                raise AssertionError(f"there is no {program} to try the example in {language} with: apt-get install {packages}")
        if skipped:  # tests/run.sh says it
            print(f"\nskipped: {len(skipped)} of {len(TOOLCHAINS)} languages: {', '.join(skipped)}")
        cls.postgres = cls.enterClassContext(Postgres())
        cls.postgres.sql(f"CREATE SEQUENCE ordinary; CREATE SEQUENCE near_the_end START {LAST - 100}")

    @classmethod
    def build(cls, command):
        """Runs what comes before &&, and returns what comes after."""
        building, _, running = command.rpartition(" && ")
        if building:
            subprocess.run(building, shell=True, check=True, cwd=cls.folder, env=cls.environment)
        return running

    def run_program(self, command, environment):
        done = subprocess.run(command, shell=True, cwd=self.folder, env=self.environment | environment, capture_output=True, text=True, timeout=120)
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
        nowhere = self.folder / "no-sidecar"
        self.assert_refused({"NEXT_ID_SOCKET": str(nowhere), "NEXT_ID_HTTP": "127.0.0.1:1"}, f"({nowhere}|127.0.0.1:1)")

    def test_the_table_has_them_all(self):
        self.assertEqual(set(commands()), set(TOOLCHAINS))


if __name__ == "__main__":
    unittest.main(verbosity=2)
