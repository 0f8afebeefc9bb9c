#!/usr/bin/python3
"""Stopped in Kubernetes' order, the application can take IDs to its end, and then the sidecar goes at once."""
import time
import unittest

from support import manifests, podman
from support.applications import TAKE, deployment, run_in_application
from support.cluster import Cluster, wait_until

# Told to stop, the application still takes IDs for a while: work that it has to finish.
FINISHES = f"""
    stop=
    trap 'stop=yes' TERM
    while [ -z "$stop" ]; do {TAKE.format(count=1)}; sleep 0.1; done
    for i in $(seq 10); do {TAKE.format(count=1)} || exit 1; sleep 0.1; done"""


class Stop(unittest.TestCase):
    def test_the_application_first_and_then_the_sidecar(self):
        with Cluster() as cluster:
            cluster.set_up_database()
            pod = cluster.start(deployment(), "stopped", run_in_application(FINISHES))
            wait_until(lambda: pod.ids("orders"), "the application takes IDs")

            self.assertEqual(pod.stop("orders"), 0, "the application could not finish its work")
            ids = pod.ids("orders")
            self.assertEqual(len(set(ids)), len(ids), "an ID came twice")
            self.assertEqual(pod.probe("/livez"), 200)
            socket = cluster.folder / f"{pod.name}-next-id-socket/next-id.sock"
            self.assertTrue(socket.is_socket())

            since = time.monotonic()
            self.assertEqual(pod.stop("next-id"), 0)
            self.assertLess(time.monotonic() - since, 5)
            self.assertFalse(socket.exists())
            self.assertEqual(pod.log_of_sidecar()[-1]["msg"], "drained")

    def test_a_plain_container_goes_on_for_a_while_when_both_are_told_at_once(self):
        with Cluster() as cluster:
            cluster.set_up_database()

            def change(spec):
                delay, = [each for each in spec["containers"][0]["env"] if each["name"] == "NEXT_ID_STOP_DELAY"]
                delay["value"] = "5s"
                spec["containers"][1]["args"] = [FINISHES]
                spec["restartPolicy"] = "Never"
            pod = cluster.start(manifests.one(manifests.load("plain-container"), "Deployment"), "plain", change)
            wait_until(lambda: pod.ids("orders"), "the application takes IDs")
            for name in ("next-id", "orders"):
                podman.podman("kill", "--signal=TERM", pod.container(name))
            self.assertEqual(pod.exit_code("orders"), 0, "the application could not finish its work")
            self.assertEqual(pod.exit_code("next-id"), 0)
            self.assertEqual(pod.log_of_sidecar()[-1]["msg"], "drained")


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
