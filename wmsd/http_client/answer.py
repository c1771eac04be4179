"""The answer to an outgoing request."""

from collections.abc import Mapping
from typing import NamedTuple


class Answer(NamedTuple):
    """The result of a request. If the request failed, `error` is a sentence that says why. Otherwise `error` is
    None. `status` is None if no status was received. `body` is not decompressed. `is_cut` is True if the body has
    more bytes than wmsd reads. `duration` is in seconds.

    If `is_kept` is False, the installation does not store answers of receivers, so headers and body are empty.
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
