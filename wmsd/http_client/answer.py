"""What came back of a request."""

from collections.abc import Mapping
from typing import NamedTuple


class Answer(NamedTuple):
    """`body`: as sent, not decompressed; `is_cut` when there was more. `duration` in seconds.

    Where `is_kept` is false nobody is to be shown what the receiver said: there are no headers and no body.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool
    duration: float
    error: str | None
    is_kept: bool = True

    @property
    def is_success(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status < 300
