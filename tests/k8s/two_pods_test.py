#!/usr/bin/python3
"""Two pods of one Deployment, taking IDs at the same time, never get the same."""
import unittest

from support import podman
from support.applications import deployment, takes_as_fast_as_it_can
from support.cluster import Cluster, wait_until

IDS = 20000


class TwoPods(unittest.TestCase):
    def test_no_id_comes_twice(self):
        with Cluster() as cluster:
            cluster.set_up_database()
            cluster.settings["NEXT_ID_RESERVE"] = "1s"  # small windows, so that they take turns
            pods = [cluster.start(deployment(), name, takes_as_fast_as_it_can(100)) for name in ("one", "two")]
            for pod in pods:
                wait_until(lambda: len(pod.ids("orders")) >= IDS, f"{pod.name} has taken {IDS} IDs", patience_s=60)
            taken = [pod.stop_and_collect("orders") for pod in pods]
            everything = taken[0] + taken[1]
            print(f"\n{len(everything)} IDs ", end="")
            self.assertEqual(len(set(everything)), len(everything), "an ID came twice")
            # They did take turns: it was not one window after the other.
            self.assertTrue(min(taken[0]) < max(taken[1]) and min(taken[1]) < max(taken[0]))


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
