"""A thread that writes items, such as log lines, in batches, because writing each item separately is too slow."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Batches(Generic[Item]):
    """A queue of items, such as log lines, that a thread writes in batches.

    While the queue `waiting` has items, the thread calls `write` at most once every `seconds`. The function
    `write` must remove the items that it has written. If `write` raises an error, the thread calls `failed` with
    the error, and continues. If the thread cannot be started, the arrival of the next item starts it. Callers may
    also call `write` directly.
    """

    def __init__(
        self, name: str, write: Callable[[], None], failed: Callable[[Exception], None], seconds: float, most: int
    ) -> None:
        """Create an empty queue.

        `name` is the name of the thread. If the disk is slow, at most `most` items wait. Further items are lost;
        `count_lost` returns their number.
        """
        self.waiting: deque[Item] = deque()
        self._name, self._write, self._failed = name, write, failed
        self._seconds, self.most = seconds, most
        self._lost = 0
        self._some = threading.Event()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def has_some(self) -> bool:
        """True if items wait to be written, or if `count_lost` has not yet reported all lost items."""
        return bool(self.waiting or self._lost)

    def take(self, item: Item) -> None:
        if len(self.waiting) >= self.most:
            self._lost += 1
            return
        self.waiting.append(item)
        if not self._some.is_set():
            self._some.set()
            if self._thread is None:
                self._begin()

    def count_lost(self) -> int:
        """Return the number of items that were lost since the last call."""
        lost, self._lost = self._lost, 0
        return lost

    def close(self, patience: float = 0.0) -> None:
        """Stop the thread, and wait up to `patience` seconds for its end."""
        self._is_closed.set()
        self._some.set()
        if self._thread is not None and patience:
            self._thread.join(patience)

    def _begin(self) -> None:
        thread = threading.Thread(target=self._write_batches, name=self._name, daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            self._some.clear()  # the next item tries again
        else:
            self._thread = thread

    def _write_batches(self) -> None:
        while not self._is_closed.is_set():
            try:
                self._some.wait()
                self._is_closed.wait(self._seconds)  # meanwhile, more items arrive for the batch
                self._some.clear()
                self._write()
            except Exception as error:
                self._failed(error)
                time.sleep(self._seconds)
