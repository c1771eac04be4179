"""A line of an interface's table of contents."""

from dataclasses import dataclass

from wmsd.base.operation import Operation


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    operation: Operation
