"""A service manager of our own: a real datagram socket, and what has been told to it."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

Message = dict[str, str]


@dataclass
class Listener:
    address: str
    """As the environment has it."""
    receiver: socket.socket
    messages: list[Message] = field(default_factory=list)

    def until(self, holds: Callable[[Message], bool], seconds: float) -> Message:
        """Waits for a message, and returns it. Earlier ones are in `messages`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.receiver.settimeout(left)
            try:
                text = self.receiver.recv(4096).decode()
            except TimeoutError:
                break
            self.messages.append(dict(line.split("=", 1) for line in text.split("\n")))
            if holds(self.messages[-1]):
                return self.messages[-1]
        raise AssertionError(f"it was not told; but: {self.messages}")


@contextmanager
def manager_at(address: str | Path) -> Iterator[Listener]:
    """`address` is a path, or an abstract name that begins with @."""
    text = str(address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind("\0" + text[1:] if text.startswith("@") else text)
        yield Listener(text, receiver)
