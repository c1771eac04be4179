"""Items that are written in batches, on a thread: one by one, writing would take longer than what they tell of."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Batches(Generic[Item]):
    """`write` takes what is in `waiting`; the thread calls it when there is something, at most every `seconds`. An
    error of it goes to `failed`, and the next items are written again. While there can be no thread, whoever else
    writes takes what waits.
    """

    def __init__(
        self, name: str, write: Callable[[], None], failed: Callable[[Exception], None], seconds: float, most: int
    ) -> None:
        """`most`: items that wait for a slow disk. Further ones are lost, and counted."""
        self.waiting: deque[Item] = deque()
        self._name, self._write, self._failed = name, write, failed
        self._seconds, self.most = seconds, most
        self._lost = 0
        self._some = threading.Event()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def has_some(self) -> bool:
        """Whether there is anything to write, or to say of what was lost."""
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
        """How many were lost since this was last asked."""
        lost, self._lost = self._lost, 0
        return lost

    def close(self, patience: float = 0.0) -> None:
        """Ends the thread, and waits up to so many seconds for it."""
        self._is_closed.set()
        self._some.set()
        if self._thread is not None and patience:
            self._thread.join(patience)

    def _begin(self) -> None:
        thread = threading.Thread(target=self._write_batches, name=self._name, daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            self._some.clear()  # each item tries again
        else:
            self._thread = thread

    def _write_batches(self) -> None:
        while not self._is_closed.is_set():
            try:
                self._some.wait()
                self._is_closed.wait(self._seconds)  # so that there is a batch
                self._some.clear()
                self._write()
            except Exception as error:
                self._failed(error)
                time.sleep(self._seconds)
