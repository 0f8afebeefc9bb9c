#!/usr/bin/python3
"""examples/sqlalchemy against a real table: rows of many threads and of forked processes, and what happens without IDs."""
import concurrent.futures
import multiprocessing
import os
import sys
import unittest

from sqlalchemy import create_engine, func, select
from sqlalchemy.exc import StatementError
from sqlalchemy.orm import Session

from support.processes import ROOT, Postgres, Sidecar

BATCH, LAST = 100, 2**63 - 1
fork = multiprocessing.get_context("fork")


class SqlAlchemy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = cls.enterClassContext(Postgres())
        # Exact only if no number on the way is a double.
        cls.first = LAST - 100_000
        cls.postgres.sql(f"CREATE SEQUENCE global_id_seq START {cls.first}")
        cls.sidecar = cls.enterClassContext(Sidecar(cls.postgres, WAIT_MAX="0s"))
        os.environ["NEXT_ID_SOCKET"] = str(cls.sidecar.socket)
        sys.path[:0] = [str(ROOT / "examples/python"), str(ROOT / "examples/sqlalchemy")]
        global models, next_id
        import models
        import next_id
        cls.engine = create_engine(cls.postgres.url, pool_size=8)

    def setUp(self):
        models.Base.metadata.drop_all(self.engine)
        models.Base.metadata.create_all(self.engine)


    def insert(self, count):
        """Orders, with a line each."""
        for _ in range(count):
            with Session(self.engine) as session:
                session.add(models.Order(customer="a", lines=[models.Line(item="b")]))
                session.commit()

    def insert_in_child(self, count):
        self.engine.dispose(close=False)  # its connections are its parent's
        self.insert(count)

    def ids(self):
        with Session(self.engine) as session:
            return [*session.scalars(select(models.Order.id)), *session.scalars(select(models.Line.id))]

    def assert_all_there(self, orders):
        ids = self.ids()
        self.assertEqual(len(ids), 2 * orders)
        self.assertEqual(len(set(ids)), len(ids), "an ID came twice")
        self.assertTrue(all(self.first <= id <= LAST for id in ids))

    def test_rows_and_what_refers_to_them_are_inserted_together(self):
        with Session(self.engine) as session:
            orders = [models.Order(customer=f"customer {i}", lines=[models.Line(item=f"item {i}")]) for i in range(250)]
            session.add_all(orders)
            session.commit()
            self.assertEqual(session.scalar(select(func.count()).select_from(models.Order).join(models.Line)
                                            .where(func.substr(models.Order.customer, 9) == func.substr(models.Line.item, 5))), 250)
            self.assertIsInstance(orders[0].id, int)
        self.assert_all_there(250)

    def test_a_request_brings_a_batch(self):
        before = next_id.next_id()
        self.insert(5 * BATCH)
        taken = next_id.next_id() - before - 1
        self.assertIn(taken, (9 * BATCH, 10 * BATCH, 11 * BATCH))

    def test_threads_share_the_pool(self):
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(self.insert, [40] * 8))
        self.assert_all_there(8 * 40)

    def test_a_forked_child_gets_no_id_of_its_parent(self):
        self.insert(1)  # the pool is warm
        children = [fork.Process(target=self.insert_in_child, args=(BATCH,)) for _ in range(4)]
        for child in children:
            child.start()
        self.insert(BATCH)
        for child in children:
            child.join()
            self.assertEqual(child.exitcode, 0)
        self.assert_all_there(1 + 5 * BATCH)

    def test_a_child_forked_while_a_thread_takes_is_not_stuck(self):
        with models.ids.lock:
            child = fork.Process(target=models.ids.next)
            child.start()
        self.addCleanup(child.kill)
        child.join(20)
        self.assertEqual(child.exitcode, 0)

    def test_without_an_id_nothing_is_inserted(self):
        self.sidecar.stop()
        try:
            with self.assertRaisesRegex(StatementError, f"no ID from {self.sidecar.socket}") as raised:
                self.insert(BATCH)
        finally:
            self.sidecar.start()
        self.assertIsInstance(raised.exception.orig, next_id.NoId)
        inserted = len(self.ids()) // 2
        self.assertLess(inserted, BATCH)
        self.assert_all_there(inserted)


if __name__ == "__main__":
    unittest.main(verbosity=2)
