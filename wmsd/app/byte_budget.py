"""How many bytes are held for requests that are under way, by company and in all."""

from collections import Counter
from dataclasses import dataclass, field

from wmsd.base.problems import unavailable


@dataclass(slots=True)
class ByteBudget:
    """`fair` is what a company may always hold: others must not shut it out by holding what they may."""

    of_a_company: int
    in_all: int
    fair: int
    what: str
    """What is held, for the sentence of a refusal."""
    _held: Counter[str] = field(default_factory=Counter)

    def hold(self, company: str, size: int) -> None:
        """Counts so many bytes more. Raises Problem (503), with nothing counted, beyond the bound."""
        own = self._held[company] + size
        if own > self.of_a_company or (own > self.fair and self._held.total() + size > self.in_all):
            raise unavailable(f"Too many {self.what} are under way; send them one after the other.", 2)
        self._held[company] = own

    def count(self, company: str, size: int) -> None:
        """The same for what is there already."""
        self._held[company] += size

    def release(self, company: str, size: int) -> None:
        self._held[company] -= size
        if not self._held[company]:
            del self._held[company]

    def held(self) -> int:
        """By all together."""
        return self._held.total()
