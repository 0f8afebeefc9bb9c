#!/usr/bin/python3
"""examples/django against a real table, made by migrations."""
import os
import pathlib
import sys
import tempfile
import unittest

from support.processes import ROOT, Postgres, Sidecar

LAST = 2**63 - 1


class Django(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = cls.enterClassContext(Postgres())
        cls.first = LAST - 10_000
        cls.postgres.sql(f"CREATE SEQUENCE global_id_seq START {cls.first}")
        cls.sidecar = cls.enterClassContext(Sidecar(cls.postgres, WAIT_MAX="0s"))
        os.environ["NEXT_ID_SOCKET"] = str(cls.sidecar.socket)
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="next-id-django.")))
        sys.path[:0] = [str(ROOT / "examples/python"), str(ROOT / "examples/django"), str(cls.folder)]

        import django
        from django.conf import settings
        from django.core.management import call_command
        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "postgres",
                                                  "HOST": str(cls.postgres.folder)}},
                           INSTALLED_APPS=["shop"], MIGRATION_MODULES={"shop": "migrations_of_shop"}, USE_TZ=True)
        django.setup()
        (cls.folder / "migrations_of_shop").mkdir()
        (cls.folder / "migrations_of_shop/__init__.py").touch()
        cls.migrate = staticmethod(lambda: call_command("makemigrations", "shop", check=True, verbosity=0))
        call_command("makemigrations", "shop", verbosity=0)
        call_command("migrate", verbosity=0)
        global NoId, transaction, Line, Order
        from django.db import transaction
        from next_id import NoId
        from shop.models import Line, Order

    def setUp(self):
        Order.objects.all().delete()

    def test_an_object_has_its_id_before_it_is_saved(self):
        order = Order(customer="a")
        self.assertLessEqual(self.first, order.id)
        order.save()
        self.assertEqual(Order.objects.get(pk=order.id).customer, "a")
        order.customer = "b"
        order.save()
        self.assertEqual([(each.id, each.customer) for each in Order.objects.all()], [(order.id, "b")])

    def test_objects_that_refer_to_each_other_are_created_in_bulk(self):
        orders = [Order(customer=f"customer {i}") for i in range(250)]
        Order.objects.bulk_create(orders)
        Line.objects.bulk_create([Line(order=order, item=order.customer) for order in orders])
        ids = [*Order.objects.values_list("id", flat=True), *Line.objects.values_list("id", flat=True)]
        self.assertEqual(len(ids), 500)
        self.assertEqual(len(set(ids)), len(ids), "an ID came twice")
        self.assertTrue(all(self.first <= id <= LAST for id in ids))
        self.assertTrue(all(line.item == line.order.customer for line in Line.objects.select_related("order")))

    def test_the_column_is_a_bigint_without_a_default(self):
        self.assertEqual(self.postgres.sql("SELECT data_type, column_default FROM information_schema.columns "
                                           "WHERE table_name = 'shop_order' AND column_name = 'id'"), "bigint|")

    def test_migrations_find_nothing_new(self):
        self.migrate()

    def test_without_an_id_there_is_no_object(self):
        self.sidecar.stop()
        try:
            with self.assertRaisesRegex(NoId, f"no ID from {self.sidecar.socket}"), transaction.atomic():
                for _ in range(200):
                    Order.objects.create(customer="a")
        finally:
            self.sidecar.start()
        self.assertEqual(Order.objects.count(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
