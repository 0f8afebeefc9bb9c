"""A table of SQLAlchemy whose IDs come from next-id. They are known before the row is sent, so that rows can refer to each other and
be inserted in one go. When there is none, the statement fails with a StatementError whose `orig` is a NoId. Needs ../python on
PYTHONPATH."""
from sqlalchemy import BigInteger, Column, ForeignKey, Text
from sqlalchemy.orm import declarative_base, relationship

from id_pool import IdPool

Base = declarative_base()
ids = IdPool(batch=100)


class Order(Base):
    __tablename__ = "orders"
    id = Column(BigInteger, primary_key=True, default=ids.next)
    customer = Column(Text, nullable=False)
    lines = relationship("Line", back_populates="order")


class Line(Base):
    __tablename__ = "lines"
    id = Column(BigInteger, primary_key=True, default=ids.next)
    order_id = Column(ForeignKey(Order.id), nullable=False)
    item = Column(Text, nullable=False)
    order = relationship(Order, back_populates="lines")
