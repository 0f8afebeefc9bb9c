#!/usr/bin/python3
"""The memory that the manifest allows is enough under a load that no application makes, and is a limit indeed."""
import contextlib
import pathlib
import resource
import socket
import unittest

from support import podman
from support.applications import IDLE, deployment, run_in_application
from support.cluster import Cluster, wait_until

CONNECTIONS, BATCHES, BATCH = 2000, 400, 10000
MIB = 2**20


def memory_of(process):
    """Peak and limit of its cgroup, in bytes; version 1 and 2 name them differently."""
    lines = [line.split(":") for line in pathlib.Path(f"/proc/{process}/cgroup").read_text().splitlines()]
    for _, controllers, path in lines:
        for root, peak, limit in [("/sys/fs/cgroup/memory", "memory.max_usage_in_bytes", "memory.limit_in_bytes"),
                                  ("/sys/fs/cgroup", "memory.peak", "memory.max")]:
            folder = pathlib.Path(root + path)
            if ("memory" in controllers or not controllers) and (folder / peak).exists():
                return int((folder / peak).read_text()), int((folder / limit).read_text())
    raise AssertionError(f"no memory cgroup among {lines}")


class Memory(unittest.TestCase):
    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def start(self, cluster, change=lambda spec: None):
        cluster.set_up_database()
        cluster.settings |= {"NEXT_ID_WINDOW_MIN": "5000000", "NEXT_ID_INCREMENT": "block"}
        cluster.sql("ALTER SEQUENCE global_id_seq INCREMENT BY 1000")
        pod = cluster.start(deployment(), "loaded", lambda spec: (run_in_application(IDLE)(spec), change(spec)))
        wait_until(lambda: pod.probe("/readyz") == 200, "there are IDs")
        return pod

    def load(self, pod, connections):
        """Some that do nothing, and some that ask and do not read: each of their answers waits in the sidecar."""
        path = str(pod.cluster.folder / f"{pod.name}-next-id-socket/next-id.sock")
        request = f"GET /next-id?count={BATCH} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for asks in [b""] * CONNECTIONS + [request] * BATCHES:
            connection = connections.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(path)
            connection.sendall(asks)

    def test_the_limit_is_enough(self):
        with Cluster() as cluster, contextlib.ExitStack() as connections:
            pod = self.start(cluster)
            self.load(pod, connections)
            wait_until(lambda: pod.sequence()["ids_issued"] >= BATCHES * BATCH, "all batches are answered")
            peak, limit = memory_of(pod.pid())
            print(f"\n{peak / MIB:.0f} of {limit / MIB:.0f} MiB ", end="")
            self.assertEqual(limit, 96 * MIB)
            self.assertLess(peak, limit * 3 / 4)
            self.assertEqual(pod.restarts(), 0)

    def test_it_is_a_limit(self):
        with Cluster() as cluster, contextlib.ExitStack() as connections:
            def change(spec):
                spec["initContainers"][0]["resources"]["limits"]["memory"] = "12Mi"
                spec["restartPolicy"] = "Never"
            pod = self.start(cluster, change)
            with contextlib.suppress(ConnectionError):
                self.load(pod, connections)
            self.assertEqual(pod.exit_code("next-id"), 137)


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
