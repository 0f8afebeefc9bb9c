#!/usr/bin/python3
"""README.md, "From your language": each of these lines is run, with nothing around it but what makes a program of it, and reads an ID
near 2^63 exactly."""
import re
import subprocess
import unittest

from support import toolchains
from support.console import SHOWN_HTTP, SHOWN_SOCKET
from support.processes import ROOT, Postgres, Sidecar

FIRST = 2**63 - 1 - 100

# By the name of the code's language in Markdown: the file, a program of what it includes and does, and how it is run.
PROGRAMS = {
    "sh": ("shell", "id.sh", "{0}{1}\necho $id", "sh id.sh"),
    "js": ("Node.js", "id.mjs", "{0}{1}\nconsole.log(id.toString());", "node id.mjs"),
    "python": ("Python", "id.py", "{0}{1}\nprint(id)", "python3 id.py"),
    "go": ("Go", "id.go", "package main\n{0}func main() {{\n{1}\nif err != nil {{ panic(err) }}\nfmt.Println(id)\n}}", "go run id.go"),
    "java": ("Java", "Id.java", "{0}class Id {{ public static void main(String[] a) throws Exception {{\n{1}\nSystem.out.println(id);\n}} }}",
             "java Id.java"),
    "ruby": ("Ruby", "id.rb", "{0}{1}\nputs id", "ruby id.rb"),
    "php": ("PHP", "id.php", "<?php\n{0}{1}\necho $id;", "php id.php"),
    "rust": ("Rust", "id.rs", "{0}fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{1}\nprintln!(\"{{id}}\");\nOk(())\n}}",
             "rustc -o id_rust id.rs && ./id_rust"),
    "cpp": ("C++", "id.cpp", "#include <iostream>\n{0}int main() {{\n{1}\nstd::cout << id;\n}}",
            "g++ -std=c++17 -o id_cpp id.cpp $(pkg-config --cflags --libs next_id) && ./id_cpp"),
    "c": ("C", "id.c", "#include <inttypes.h>\n#include <stdio.h>\n{0}int main(void) {{\n{1}\nprintf(\"%\" PRId64, id);\nnext_id_client_close(client);\n"
          "return status;\n}}", "gcc -o id_c id.c $(pkg-config --cflags --libs next_id) && ./id_c"),
}
INCLUDES = re.compile(r"^(import|require|use|#include)\b.*\n", re.M)


def snippets():
    section = re.search(r"^## From your language\n(.*?)^## ", (ROOT / "README.md").read_text(), re.S | re.M)[1]
    return dict(re.findall(r"^```(\w+)\n(.*?)^```$", section, re.S | re.M))


class Readme(unittest.TestCase):
    def test_every_language_is_shown(self):
        self.assertEqual(snippets().keys(), PROGRAMS.keys())
        self.assertEqual({program[0] for program in PROGRAMS.values()}, set(toolchains.TOOLCHAINS))

    def test_what_is_shown_reads_an_id_exactly(self):
        there = toolchains.there()
        with toolchains.Workshop() as workshop, Postgres() as postgres:
            postgres.sql(f"CREATE SEQUENCE global_id_seq START {FIRST}")
            with Sidecar(postgres) as sidecar:
                expected = FIRST
                for code, (language, file, program, command) in PROGRAMS.items():
                    if language in there:
                        shown = snippets()[code].replace(SHOWN_HTTP, sidecar.address("http")).replace(SHOWN_SOCKET, str(sidecar.socket))
                        includes = "".join(each[0] for each in INCLUDES.finditer(shown))
                        (workshop.folder / file).write_text(program.format(includes, INCLUDES.sub("", shown)))
                        with self.subTest(language):
                            done = subprocess.run(command, shell=True, cwd=workshop.folder, env=workshop.environment, capture_output=True, text=True,
                                                  timeout=120)
                            self.assertEqual((done.stdout.strip(), done.stderr), (str(expected), ""))
                        expected += 1

    def test_javascript_needs_strings(self):
        """As the README says."""
        said = re.search(r"`(JSON\.parse\('\d+'\))`\s+is\s+(\d+)", (ROOT / "README.md").read_text())
        printed = subprocess.run(["node", "-p", f"BigInt({said[1]})"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(printed.strip(), said[2] + "n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
