#!/usr/bin/python3
"""protocol/openapi.yaml is well-formed, and says what the server does: every answer that it promises is made the server give, and
has the status, headers and body that are promised there, and no others."""
import copy
import http.client
import itertools
import json
import os
import re
import subprocess
import unittest

import jsonschema
import yaml

from support.npm import install
from support.processes import ROOT
from support.sidecars import TOKEN, Sidecars

TEXT = (ROOT / "protocol/openapi.yaml").read_text()
METHODS = {"get": "GET", "post": "POST", "head": "HEAD", "options": "OPTIONS"}

# What makes the server give each status: the sidecar that is asked, what is added to the target, headers, body.
CAUSES = {
    200: [("plain", "", {}, None), ("plain", "?count=3", {}, None), ("plain", "?format=string", {}, None),
          ("plain", "?format=text&count=3", {}, None), ("plain", "", {"Accept": "text/plain"}, None),
          ("plain", "?format=ranges&count=3", {}, None), ("steps", "?format=ranges&count=3", {}, None),
          ("steps", "?format=ranges,string&count=3", {}, None), ("token", "", {"Authorization": f"Bearer {TOKEN}"}, None),
          ("token", "", {"X-Api-Token": TOKEN}, None)],
    400: [("plain", "?count=0", {}, None), ("plain", "?format=xml", {}, None), ("plain", "", {"Bad name": "x"}, None)],
    401: [("token", "", {}, None), ("token", "", {"X-Api-Token": "wrong"}, None)],
    403: [("plain", "", {"Sec-Fetch-Site": "cross-site"}, None), ("other user", "", {}, None)],
    404: [("plain", "/none", {}, None)],
    405: [("plain", "", {}, None)],
    413: [("plain", "", {}, "{}")],
    414: [("plain", "?" + "a" * 5000, {}, None)],
    429: [("rate", "", {}, None)],
    431: [("plain", "", {"X": "a" * 9000}, None)],
    503: [("dry", "", {}, None), ("full", "", {}, None)],
}


class Connection(http.client.HTTPConnection):
    def __init__(self, sidecar):
        super().__init__("localhost")
        self.sidecar = sidecar

    def connect(self):
        self.sock = self.sidecar.connect()


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = yaml.safe_load(TEXT)
        cls.strict = cls.with_closed_objects(copy.deepcopy(cls.document))
        cls.sidecars = cls.enterClassContext(Sidecars())

    @classmethod
    def with_closed_objects(cls, part):
        """A property that is not described is a breach here, though clients have to be ready for more."""
        if isinstance(part, dict):
            if "properties" in part:
                part["additionalProperties"] = False
            part = {key: cls.with_closed_objects(each) for key, each in part.items()}
        return [cls.with_closed_objects(each) for each in part] if isinstance(part, list) else part

    @classmethod
    def ask(cls, sidecar, method, target, headers={}, body=None):
        connection = Connection(cls.sidecars[sidecar])
        try:
            connection.request(method, target, body, headers)
        except BrokenPipeError:
            pass  # told at once
        response = connection.getresponse()
        return response, response.read().decode()

    def target(self, path, sidecar, rest):
        if rest.startswith("/"):
            return path.replace("/{sequence}", rest)
        return path.replace("{sequence}", self.sidecars[sidecar].environment["PG_SEQUENCE"].split(",")[0]) + rest

    def resolve(self, part):
        while "$ref" in part:
            for step, name in enumerate(part["$ref"].split("/")):
                part = self.strict if step == 0 else part[name]
        return part

    def assert_valid(self, value, schema):
        resolver = jsonschema.RefResolver("", self.strict)
        jsonschema.Draft202012Validator(self.resolve(schema), resolver=resolver).validate(value)

    def assert_answers(self, promised, response, body):
        """`promised` is the Response Object of that status."""
        promised = self.resolve(promised)
        told = {name: value for name, value in response.getheaders() if name not in ("Content-Type", "Content-Length")}
        headers = {name: self.resolve(header) for name, header in promised["headers"].items()}
        self.assertLessEqual(set(told), set(headers), "a header that is not promised")
        self.assertLessEqual({name for name, header in headers.items() if header.get("required")}, set(told), "a promised header is missing")
        for name, value in told.items():
            self.assert_valid(int(value) if value.isdigit() else value, headers[name]["schema"])
        if body:
            kind = response.headers.get_content_type()
            self.assertIn(kind, promised["content"])
            self.assert_valid(json.loads(body) if kind == "application/json" else body, promised["content"][kind]["schema"])

    def asked(self):
        """Everything that can be asked for: path, operation, the status to come, sidecar, target, headers, body."""
        for path, operations in self.strict["paths"].items():
            for operation, (status, causes) in itertools.product(METHODS.keys() & operations, CAUSES.items()):
                if operation == "options" and status != 405:
                    continue  # what is wrong for any method is told at those that are there to be used
                for sidecar, rest, headers, body in causes:
                    if operation != "head" or sidecar != "dry":  # it takes no ID
                        yield path, operation, status, sidecar, self.target(path, sidecar, rest), headers, body

    def test_the_server_gives_every_promised_answer_and_no_other(self):
        for path, operation, status, sidecar, target, headers, body in self.asked():
            with self.subTest(f"{operation} {path} {status} {sidecar} {target[:60]} {str(headers)[:40]}"):
                response, text = self.ask(sidecar, METHODS[operation], target, headers, body)
                promised = self.strict["paths"][path][operation]["responses"].get(str(status))
                self.assertEqual(response.status == status, promised is not None, f"{response.status} {text}")
                if promised:
                    self.assert_answers(promised, response, text)
                    self.assertEqual(text == "", operation == "head")

    def test_the_statuses_are_those_of_the_contract_for_people(self):
        told = {int(status) for status in re.findall(r"^\| (\d{3}) \|", (ROOT / "protocol/README.md").read_text(), re.M)}
        promised = {int(status) for operations in self.document["paths"].values() for operation in METHODS.keys() & operations
                    for status in operations[operation]["responses"]}
        self.assertEqual(promised - {200}, told)
        self.assertEqual(promised, set(CAUSES))

    def test_it_is_linted(self):
        version = tuple(map(int, subprocess.run(["node", "-p", "process.versions.node"], capture_output=True, text=True, check=True).stdout.split(".")))
        if not ((20, 19) <= version < (21,) or version >= (22, 12)):
            print(f"\nskipped: @redocly/cli needs Node.js 20.19 or 22.12, here is {'.'.join(map(str, version))}")
            return
        place = install(ROOT / "tests/examples/openapi")
        quiet = os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
        done = subprocess.run(["node_modules/.bin/redocly", "lint", "--config", "redocly.yaml", ROOT / "protocol/openapi.yaml"], cwd=place, env=quiet,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
