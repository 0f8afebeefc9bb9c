"""IDs for a process that takes many: one request brings a batch."""
import collections
import os
import threading

from next_id import next_ids


class IdPool:
    """Any thread may take from it. After fork() the child starts with none: those of its parent are its parent's. So it may be made
    before gunicorn, Celery or multiprocessing fork, where a pool of plain IDs would give the same ones to every worker.

    What a process has not used when it ends is a gap, of at most a batch.
    """

    def __init__(self, batch=100):
        self.batch = batch
        self._start_empty()
        os.register_at_fork(after_in_child=self._start_empty)

    def _start_empty(self):
        self.lock = threading.Lock()  # a new one: a thread that is not in the child may have held it
        self.ids = collections.deque()

    def next(self):
        with self.lock:
            if not self.ids:
                self.ids.extend(next_ids(self.batch))
            return self.ids.popleft()
