"""redis-py: ADDRESS KEY [TOKEN]. One ID, a hundred, five in a pipeline, and what is refused."""
import sys

import redis

address, key, *token = sys.argv[1:]
options = {"password": token[0]} if token else {}
if address.startswith("/"):
    client = redis.Redis(unix_socket_path=address, client_name="redis-py", **options)
else:
    host, port = address.rsplit(":", 1)
    client = redis.Redis(host=host, port=int(port), client_name="redis-py", **options)

print("one", client.incr(key))
print("hundred", client.incrby(key, 100))
with client.pipeline(transaction=False) as pipeline:
    for _ in range(5):
        pipeline.incr(key)
    print("five", *pipeline.execute())
try:
    client.set(key, 1)
except redis.ResponseError as error:
    print("refused", str(error).split(":")[0])
print("name", client.client_getname())
