#!/usr/bin/python3
"""The role's password is changed under a running pod: it takes the new one from the Secret, without a restart."""
import unittest

from support import podman
from support.applications import IDLE, TAKE, deployment, run_in_application
from support.cluster import Cluster, ids_in, wait_until


class Secret(unittest.TestCase):
    def test_a_new_password_is_taken_when_the_secret_has_it(self):
        with Cluster() as cluster:
            cluster.set_up_database(password="first")
            pod = cluster.start(deployment(), "rotated", run_in_application(IDLE))
            take = lambda script: ids_in(pod.exec("orders", "sh", "-c", script))
            wait_until(lambda: pod.probe("/readyz") == 200, "there are IDs")
            ids = take(TAKE.format(count=100))

            cluster.sql("ALTER ROLE next_id PASSWORD 'second'; "
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'next_id'")
            ids += take(f"for count in 100 1; do while {TAKE.format(count='$count')}; do :; done; done")
            self.assertEqual(pod.probe("/readyz"), 503, "the window is not used up")
            wait_until(lambda: "password authentication failed" in pod.logs("next-id"), "it says that the password is wrong")
            self.assertNotIn("first", pod.logs("next-id"))

            cluster.write_secret("next-id", password="second")
            wait_until(lambda: pod.probe("/readyz") == 200, "it logs in with the new password")
            ids += take(TAKE.format(count=100))
            self.assertEqual(len(set(ids)), len(ids), "an ID came twice")
            self.assertEqual(pod.restarts(), 0)


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
