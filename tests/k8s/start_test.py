#!/usr/bin/python3
"""A pod starts, also before PostgreSQL, and its application takes IDs through the socket as another user."""
import json
import pathlib
import unittest

from support import podman
from support.applications import deployment
from support.cluster import Cluster, wait_until


class Start(unittest.TestCase):
    def test_it_waits_for_postgresql_without_being_restarted(self):
        with Cluster() as cluster:
            cluster.write_secret("next-id", password="first")
            pod = cluster.start(deployment(), "early")
            wait_until(lambda: "no connection to PostgreSQL" in pod.logs("next-id"), "it says that PostgreSQL is away")
            self.assertEqual(pod.probe("/livez"), 200)
            self.assertEqual(pod.probe("/readyz"), 503)
            wait_until(lambda: "connect postgresql failed" in pod.logs("orders"), "the application is told so")

            cluster.set_up_database()
            self.assertEqual(wait_until(lambda: pod.ids("orders"), "the application gets IDs")[0], 1)
            self.assertEqual(pod.probe("/readyz"), 200)
            self.assertEqual(pod.restarts(), 0)
            self.it_runs_with_no_rights(pod)
            self.it_says_who_it_is(cluster, pod)
            self.the_application_cannot_write_beside_the_socket(pod)
            self.operators_can_ask_it(pod)

    def it_runs_with_no_rights(self, pod):
        process = pathlib.Path(f"/proc/{pod.pid()}")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        self.assertEqual(status["Uid"].split(), ["65532"] * 4)
        self.assertEqual({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}, {"0" * 16})
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        mounts = [line.split()[1:4:2] for line in (process / "mounts").read_text().splitlines()]
        kernels = ("/dev", "/proc", "/sys")
        writable = {place for place, options in mounts if options.startswith("rw") and not place.startswith(kernels)}
        by_podman = {"/run", "/tmp", "/var/tmp"}  # which Kubernetes does not add
        self.assertEqual(writable - by_podman, {"/run/next-id", "/run/next-id-state"})
        state = process / "root/run/next-id-state/windows"
        self.assertEqual((state.stat().st_mode & 0o777, state.stat().st_uid), (0o700, 65532))
        application = pathlib.Path(f"/proc/{pod.pid('orders')}/status").read_text()
        self.assertIn("Uid:\t1000\t1000\t1000\t1000", application)

    def it_says_who_it_is(self, cluster, pod):
        self.assertEqual({line["pod"] for line in pod.log_of_sidecar()}, {pod.name})
        self.assertIn(f"application_name=next-id/{pod.name}", (cluster.folder / "postgres.log").read_text())

    def the_application_cannot_write_beside_the_socket(self, pod):
        refused = pod.exec("orders", "sh", "-c", "echo x 2>&1 >/run/next-id/next-id.sock.new || true")
        self.assertIn("Read-only file system", refused)

    def operators_can_ask_it(self, pod):
        self.assertEqual(pod.exec("next-id", "next-id", "check").strip(), "ready")
        self.assertIn("global_id_seq", pod.exec("next-id", "next-id", "status"))
        self.assertEqual(len(pod.exec("next-id", "next-id", "get", "-n", "3").split()), 3)
        answer = json.loads(pod.exec("orders", "curl", "--silent", "http://127.0.0.1:9910/next-id"))
        self.assertEqual(answer["msg"], "success")


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
