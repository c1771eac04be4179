"""The contents of the guide: the pages for each kind of reader, and their order."""

from collections.abc import Sequence
from typing import Final

from wmsd.base.dataclass import dataclass

HOME: Final = "/docs"
FIRST: Final = "index"
MOST_WANTED: Final = 3


@dataclass(frozen=True, slots=True)
class Reader:
    title: str
    says: str
    """The description of what this reader finds in the guide."""
    pages: Sequence[str]
    """The names of the pages. The first three are the pages that most readers look for."""

    @property
    def most_wanted(self) -> Sequence[str]:
        return self.pages[:MOST_WANTED]


READERS: Final = (
    Reader(
        "For those who run it",
        "Set it up, let people and programs in, keep backups, and find out what is wrong.",
        (
            *("quick-start", "troubleshooting", "running", "service", "tls", "reverse-proxies"),
            *("administration", "people"),
            *(
                "importing",
                "columns",
                "sign-on",
                "backup",
                "monitoring",
                "doctor",
                "disk-full",
                "upgrade",
                "moving",
                "replica",
            ),
            *("data-folder", "settings", "commands", "record-commands", "kernel"),
        ),
    ),
    Reader(
        "For those who connect to it",
        "Send orders from a shop or an accounting system, and hear of what happened.",
        ("using-the-api", "examples", "api", "errors", "webhooks", "graphql", "transports"),
    ),
    Reader(
        "For those who work with it",
        "What the pages show, and what each step of an order, a delivery or a return does to the stock.",
        ("pages", "stock", "sales-orders", "inbound", "returns", "packaging"),
    ),
    Reader(
        "About wmsd",
        "What has changed, what it promises, and how that was tested.",
        ("changelog", "security", "reliability", "performance", "architecture", "architecture-of-pages"),
    ),
)
ELSEWHERE: Final = {"api": "API reference"}
"""The titles of pages that the contents link to and that are not pages of the guide."""
ORDER: Final = (FIRST, *(name for reader in READERS for name in reader.pages if name not in ELSEWHERE))
WEIGHTS: Final = {
    **dict.fromkeys(("changelog", "architecture", "architecture-of-pages"), 0.4),
    **dict.fromkeys(("commands", "record-commands"), 0.6),
}
"""The search weights of pages that mention almost everything. All other pages have the weight 1."""


def address_of(name: str) -> str:
    return HOME if name == FIRST else f"{HOME}/{name}"


def neighbours(name: str) -> tuple[str | None, str | None]:
    """Return the names of the pages before and after this page; None at either end."""
    place = ORDER.index(name)
    return (
        ORDER[place - 1] if place > 0 else None,
        ORDER[place + 1] if place + 1 < len(ORDER) else None,
    )
