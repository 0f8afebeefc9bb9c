"""Binds the C interface with ctypes, as other languages would, and prints what it gets of the sidecar whose socket is the
second argument; the first is the library. The suite client_e2etests reads that."""
import ctypes
import os
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
library.next_id_error.restype = ctypes.c_char_p
library.next_id_retry_after.restype = ctypes.c_int64


def options(**values):
    texts = [f"{name}={value}".encode() for name, value in values.items()]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


def check(status):
    if status != 0:
        raise RuntimeError(f"{status}: {library.next_id_error().decode()}")


class Pool:
    def __init__(self, **values):
        self.handle = ctypes.c_void_p()
        check(library.next_id_pool_open(options(**values), ctypes.byref(self.handle)))

    def next(self):
        id = ctypes.c_int64()
        check(library.next_id_pool_next(self.handle, ctypes.byref(id)))
        return id.value

    def close(self):
        library.next_id_pool_close(self.handle)


pool = Pool(address=sys.argv[2], timeout_ms=20000, batch=50)


def take(who, n):
    print("".join(f"{who} {pool.next()}\n" for _ in range(n)), end="", flush=True)


threads = [threading.Thread(target=take, args=("thread", 100)) for _ in range(4)]
for thread in threads:
    thread.start()
child = os.fork()  # as gunicorn and the like do
if child == 0:
    take("child", 100)
    os._exit(0)
take("parent", 100)
for thread in threads:
    thread.join()
assert os.waitpid(child, 0)[1] == 0
pool.close()
try:
    Pool(address="nowhere")
except RuntimeError as error:
    print(f"error {error}")
