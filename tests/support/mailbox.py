"""A receiver of webhooks on loopback, for tests that have no event loop of their own."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LONGEST = 10.0
ALLOWED = {
    "WMSD_WEBHOOKS_ALLOW_NETWORKS": "127.0.0.1/32",
    "WMSD_WEBHOOKS_ALLOW_PORTS": "1-65535",
    "WMSD_WEBHOOKS_ALLOW_HTTP": "true",
}
"""The environment variables that allow wmsd to send to the receiver."""


@dataclass(frozen=True)
class Letter:
    """A received request. Header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> str:
        return self.headers["x-webhook-event"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Mailbox:
    """A receiver that answers everything with `status`, `headers` and `answer`, after `delay` seconds."""

    url: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    answer: bytes = b"thank you"
    delay: float = 0
    letters: list[Letter] = field(default_factory=list)

    def wait_for(self, count: int, seconds: float = LONGEST) -> list[Letter]:
        """Wait until `count` letters were received, and return them."""
        until = time.monotonic() + seconds
        while len(self.letters) < count:
            assert time.monotonic() < until, self.letters
            time.sleep(0.02)
        return self.letters


@contextmanager
def open_mailbox() -> Iterator[Mailbox]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            mailbox.letters.append(Letter(self.path, headers, body))
            time.sleep(mailbox.delay)
            self.send_response(mailbox.status)
            for name, value in mailbox.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(mailbox.answer)))
            self.end_headers()
            self.wfile.write(mailbox.answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mailbox = Mailbox(f"http://127.0.0.1:{server.server_port}/hook")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield mailbox
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
