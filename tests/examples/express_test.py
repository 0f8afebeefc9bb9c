#!/usr/bin/python3
"""examples/express against a real table: concurrent orders, and what a customer is told when there is no ID."""
import concurrent.futures
import json
import os
import re
import signal
import unittest
import urllib.error
import urllib.request

from support.npm import install
from support.processes import ROOT, Postgres, Process, Sidecar, make_folder, web

LAST = 2**63 - 1


class Server(Process):
    """The example, as it is run."""

    def __init__(self, postgres, sidecar):
        super().__init__(make_folder("express"))
        self.environment = {"PATH": os.environ["PATH"], "PORT": "0", "PGHOST": str(postgres.folder), "PGUSER": "postgres",
                            "PGDATABASE": "postgres"} | sidecar.client_environment()

    def start(self):
        server = install(ROOT / "examples/express") / "server.mjs"
        node = server.parents[1] / "node"  # what the example finds beside itself
        if not node.exists():
            node.symlink_to(ROOT / "examples/node")
        self.launch(["node", server], self.environment, signal.SIGKILL)
        self.wait_until_up(self.port, "the server listens")

    def port(self):
        found = re.search(r"listening on port (\d+)", self.log())
        return found and found[1]

    def order(self, customer):
        """Status, headers and body of the answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port()}/orders", json.dumps({"customer": customer}).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with web.open(request, timeout=20) as response:
                return response.status, response.headers, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, error.headers, json.load(error)


class Express(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = cls.enterClassContext(Postgres())
        cls.first = LAST - 10_000
        cls.postgres.sql(f"CREATE SEQUENCE global_id_seq START {cls.first}")
        cls.sidecar = cls.enterClassContext(Sidecar(cls.postgres))
        cls.server = cls.enterClassContext(Server(cls.postgres, cls.sidecar))

    def test_orders_have_exact_ids_on_the_whole_way(self):
        customers = [f"customer {i}" for i in range(100)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(self.server.order, customers))
        told = {}
        for customer, (status, headers, body) in zip(customers, answers):
            self.assertEqual(status, 201, body)
            self.assertEqual(headers["Location"], f"/orders/{body['id']}")
            self.assertIsInstance(body["id"], str)
            told[body["id"]] = customer
        self.assertEqual(len(told), 100, "an ID came twice")
        stored = dict(line.split("|") for line in self.postgres.sql("SELECT id, customer FROM orders").splitlines())
        self.assertEqual(told, stored)

    def test_without_an_id_the_customer_is_asked_to_come_again(self):
        self.sidecar.stop()
        try:
            status, headers, body = self.server.order("late")
        finally:
            self.sidecar.start()
        self.assertEqual((status, headers["Retry-After"]), (503, "1"), body)
        self.assertIn(f"no ID from {self.sidecar.socket}", self.server.log())
        self.assertEqual(self.postgres.sql("SELECT count(*) FROM orders WHERE customer = 'late'"), "0")
        self.assertEqual(self.server.order("later")[0], 201)


if __name__ == "__main__":
    unittest.main(verbosity=2)
