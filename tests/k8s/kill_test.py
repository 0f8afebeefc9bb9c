#!/usr/bin/python3
"""The sidecar is killed again and again: the application goes on, no ID comes twice, none is lost but those on their way."""
import os
import signal
import unittest

from support import podman
from support.applications import deployment, takes_as_fast_as_it_can
from support.cluster import Cluster, wait_until

KILLS, COUNT = 4, 10


class Kill(unittest.TestCase):
    def test_the_application_goes_on_with_the_same_window(self):
        with Cluster() as cluster:
            cluster.set_up_database()
            # So many that the whole test is served from one window: whatever is missing then was lost by a kill.
            cluster.settings["NEXT_ID_WINDOW_MIN"] = "200000"
            pod = cluster.start(deployment(), "killed", takes_as_fast_as_it_can(COUNT))
            wait_until(lambda: pod.probe("/readyz") == 200 and pod.sequence()["ids_left"] > 150000, "the window is full")
            for _ in range(KILLS):
                pod.wait_for_more_ids("orders", 20 * COUNT)
                killed = pod.pid()
                os.kill(killed, signal.SIGKILL)
                wait_until(lambda: pod.pid() not in (0, killed), "the sidecar is started again")
            pod.wait_for_more_ids("orders", 20 * COUNT)

            adopted = [line for line in pod.log_of_sidecar() if line["msg"] == "window adopted"]
            self.assertEqual(len(adopted), KILLS)
            ids = pod.stop_and_collect("orders")
            self.assertEqual(len(set(ids)), len(ids), "an ID came twice")
            missing = set(range(1, max(ids) + 1)) - set(ids)
            print(f"\n{len(ids)} IDs over {KILLS} kills, {len(missing)} lost on their way ", end="")
            self.assertLessEqual(len(missing), KILLS * COUNT)


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
