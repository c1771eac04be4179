"""A real Litestream that replicates a running server to a folder."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.command import Home
from tests.support.forked import LONGEST

PROGRAM: Final = Path(sys.executable).with_name("litestream")
SHARED: Final = {"WMSD_REPLICA_ENABLED": "true"}


@dataclass
class Litestream:
    home: Home
    replica: Path
    process: "subprocess.Popen[bytes]"

    def await_all(self) -> None:
        """Wait until the replica has everything that the server has written before this call."""
        until = time.monotonic() + LONGEST
        time.sleep(1.5)  # Litestream checks several times a second
        while not (done := self.home.run("replica", "status", "--json", env=SHARED)).json["ok"]:
            assert time.monotonic() < until, done.out
            time.sleep(0.2)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def replicating(home: Home) -> Iterator[Litestream]:
    replica = home.folder / "replica"
    settings = home.write("litestream.yml", home.ok("replica", "config", replica, env=SHARED).out)
    with (home.folder / "litestream.log").open("wb") as log:
        process = subprocess.Popen([PROGRAM, "replicate", "-config", settings], stdout=log, stderr=log)
    with process:
        try:
            found = Litestream(home, replica, process)
            found.await_all()
            yield found
        finally:
            process.kill()
