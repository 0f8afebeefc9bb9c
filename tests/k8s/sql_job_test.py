#!/usr/bin/python3
"""The Job of k8s/base/sql sets an empty database up, once or again; then the Job of k8s/examples gets IDs and ends."""
import unittest

from support import manifests, podman
from support.cluster import Cluster


class SqlJob(unittest.TestCase):
    def test_it_makes_sequence_role_and_password(self):
        with Cluster() as cluster:
            cluster.start_postgres()
            cluster.sql("CREATE DATABASE test_db; ALTER ROLE postgres PASSWORD 'owner'", database="postgres")
            cluster.write_secret("next-id", password="it's a \"secret\"\n")
            cluster.write_secret("next-id-owner", PGUSER="postgres", PGPASSWORD="owner")
            job = manifests.one(manifests.load("base-sql"), "Job")
            for name in ("sql", "sql-again"):
                pod = cluster.start(job, name)
                self.assertEqual(pod.exit_code("psql"), 0, pod.logs("psql"))
                self.assertNotIn("FAIL", pod.logs("psql"))
                self.assertIn("role may take IDs", pod.logs("psql"))
            self.assertNotIn("secret", (cluster.folder / "postgres.log").read_text())
            role = "SELECT rolsuper, rolpassword LIKE 'SCRAM-SHA-256%' FROM pg_authid WHERE rolname = 'next_id'"
            self.assertEqual(cluster.sql(role), "f|t")

            pod = cluster.start(manifests.one(manifests.load("job"), "Job"), "import")
            self.assertEqual(pod.exit_code("import"), 0, pod.logs("import"))
            self.assertEqual(len(set(pod.ids("import"))), 1000)

    def test_it_fails_and_says_why_when_the_owner_may_not(self):
        with Cluster() as cluster:
            cluster.start_postgres()
            cluster.sql("CREATE DATABASE test_db; CREATE ROLE weak LOGIN PASSWORD 'weak'", database="postgres")
            cluster.write_secret("next-id", password="first")
            cluster.write_secret("next-id-owner", PGUSER="weak", PGPASSWORD="weak")
            pod = cluster.start(manifests.one(manifests.load("base-sql"), "Job"), "weak")
            self.assertNotEqual(pod.exit_code("psql"), 0)
            self.assertIn("permission denied", pod.logs("psql"))


if __name__ == "__main__":
    podman.need()
    unittest.main(verbosity=2)
