from django.db import models

from next_id_field import NextIdField


class Order(models.Model):
    id = NextIdField()
    customer = models.TextField()


class Line(models.Model):
    id = NextIdField()
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    item = models.TextField()
