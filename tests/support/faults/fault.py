"""A fault that is caused under a running server, and the companies that it may affect."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.faults.scene import LATE, NEAR, STRUCK, Scene
from tests.support.moved_clock import MovedClock

NOBODY: Final = ()
EVERYBODY: Final = (STRUCK, NEAR, LATE)


@dataclass(frozen=True)
class Running:
    """A running server in a scene. `pid` is 0 before the start."""

    scene: Scene
    pid: int
    clock: MovedClock

    @property
    def file(self) -> Path:
        return self.scene.file(STRUCK)


@dataclass(frozen=True)
class Fault:
    """A fault that begins and ends with the context of `strike`."""

    name: str
    strike: Callable[[Running], AbstractContextManager[None]]
    struck: tuple[int, ...] = (STRUCK,)
    """The indexes of the companies whose requests may be refused or may wait."""
    told: str = ""
    """A regular expression that must match a line of the log. Empty if the fault need not be logged."""
    seconds: float = 3.0
    is_on_small_disk: bool = False
    is_by_moved_clock: bool = False
    is_from_start: bool = False
    """The fault exists before the server starts."""
    late: tuple[int, ...] = ()
    """The indexes of the companies whose clients start only when the fault begins, over new connections."""
    is_heavy: bool = False
    """The late clients send requests that take much memory."""
