"""Counts the bytes that are held for requests under way, by company and in all."""

from collections import Counter
from dataclasses import field

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import unavailable


@dataclass(slots=True)
class ByteBudget:
    """A company may always hold `fair` bytes, so that the other companies cannot shut it out."""

    of_a_company: int
    in_all: int
    fair: int
    what: str
    """What is held, in the plural, for the sentence of a refusal."""
    _held: Counter[str] = field(default_factory=Counter)

    def hold(self, company: str, size: int) -> None:
        """Counts more bytes. Raises Problem (503) beyond a bound, and counts nothing then."""
        own = self._held[company] + size
        if own > self.of_a_company or (own > self.fair and self._held.total() + size > self.in_all):
            raise unavailable(f"Too many {self.what} are under way; send them one after the other.", 2)
        self._held[company] = own

    def count(self, company: str, size: int) -> None:
        """Counts bytes that are held already, so it never refuses."""
        self._held[company] += size

    def release(self, company: str, size: int) -> None:
        self._held[company] -= size
        if not self._held[company]:
            del self._held[company]

    def held(self) -> int:
        """The bytes of all companies together."""
        return self._held.total()
