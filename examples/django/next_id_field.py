"""A primary key of Django that comes from next-id. Needs ../python on PYTHONPATH."""
from django.db import models

from id_pool import IdPool

ids = IdPool(batch=100)


class NextIdField(models.BigIntegerField):
    """The ID is there as soon as the object is, before it is saved: bulk_create() and references need no way back."""

    ours = {"primary_key": True, "default": ids.next, "editable": False}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs | self.ours)

    def deconstruct(self):
        """For migrations, which need not say what is always so."""
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, {key: value for key, value in kwargs.items() if key not in self.ours}
