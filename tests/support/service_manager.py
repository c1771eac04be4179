"""A service manager for tests: a real datagram socket, and the messages that it received."""

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
    """The address in the form of the environment variable."""
    receiver: socket.socket
    messages: list[Message] = field(default_factory=list)

    def until(self, holds: Callable[[Message], bool], seconds: float) -> Message:
        """Wait for a message that satisfies `holds`, and return it. Earlier messages are in `messages`."""
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
    """Listen at `address`: a path, or an abstract name that starts with @."""
    text = str(address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind("\0" + text[1:] if text.startswith("@") else text)
        yield Listener(text, receiver)
