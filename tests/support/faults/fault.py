"""What is broken under a running server, and whom it may concern."""

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
    """A server at work in a scene; before its start its process is 0."""

    scene: Scene
    pid: int
    clock: MovedClock

    @property
    def file(self) -> Path:
        return self.scene.file(STRUCK)


@dataclass(frozen=True)
class Fault:
    """`strike`: it begins and ends with the context."""

    name: str
    strike: Callable[[Running], AbstractContextManager[None]]
    struck: tuple[int, ...] = (STRUCK,)
    """Whose requests may be refused, and whose wait."""
    told: str = ""
    """What the log must say, as a regular expression; nothing where nobody needs to know."""
    seconds: float = 3.0
    is_on_small_disk: bool = False
    is_by_moved_clock: bool = False
    is_from_start: bool = False
    """Whether it is there before the server."""
    late: tuple[int, ...] = ()
    """Who begins to work, over new connections, only when it strikes."""
    is_heavy: bool = False
    """Whether they ask for what takes memory."""
