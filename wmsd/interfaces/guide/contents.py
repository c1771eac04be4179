"""The table of contents of the guide: the pages for each kind of reader, and their order."""

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
    """A text that says what these readers find in the guide."""
    pages: Sequence[str]
    """The names of the pages. The first three are the pages that most readers look for."""

    @property
    def most_wanted(self) -> Sequence[str]:
        return self.pages[:MOST_WANTED]


READERS: Final = (
    Reader(
        "For admins",
        "Install wmsd, give people and programs access, keep backups, and find problems.",
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
        "For integrators",
        "Send orders from a shop or an accounting system, and receive events.",
        ("using-the-api", "examples", "api", "errors", "webhooks", "graphql", "transports"),
    ),
    Reader(
        "For users",
        "What the pages show, and how each step of an order, a delivery or a return changes the stock.",
        ("pages", "stock", "sales-orders", "inbound", "returns", "packaging"),
    ),
    Reader(
        "About wmsd",
        "Changes, guarantees, and how they were tested.",
        (
            "changelog",
            "old-words",
            "security",
            "reliability",
            "performance",
            "architecture",
            "architecture-of-pages",
        ),
    ),
)
ELSEWHERE: Final = {"api": "API reference"}
"""The titles of pages that are not part of the guide, but that the table of contents also lists."""
ORDER: Final = (FIRST, *(name for reader in READERS for name in reader.pages if name not in ELSEWHERE))
WEIGHTS: Final = {
    **dict.fromkeys(("changelog", "architecture", "architecture-of-pages"), 0.4),
    **dict.fromkeys(("commands", "record-commands"), 0.6),
}
"""Lower search weights of pages that mention almost everything. All other pages have the weight 1."""


def address_of(name: str) -> str:
    return HOME if name == FIRST else f"{HOME}/{name}"


def neighbours(name: str) -> tuple[str | None, str | None]:
    """Return the names of the pages before and after this page; None at either end."""
    place = ORDER.index(name)
    return (
        ORDER[place - 1] if place > 0 else None,
        ORDER[place + 1] if place + 1 < len(ORDER) else None,
    )
