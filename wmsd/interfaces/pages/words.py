"""Words for people, for what programs say by codes."""

from decimal import Decimal
from typing import Final

from wmsd.base.access import ABILITIES, EVERYTHING, MODULES

STATUSES: Final = {
    "CREAT": "Created",
    "IN_LUCRU": "In work",
    "INCARCAT": "Loaded",
    "LIVRAT": "Delivered",
    "ANULAT": "Cancelled",
    "PARTIAL": "Partly received",
    "RECEPTIONAT": "Received",
    "FINALIZAT": "Finished",
}


def status(code: str) -> str:
    return STATUSES.get(code, code)


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def moment(text: str) -> str:
    """A time of the API in short: it is UTC, and says so."""
    return f"{text[:10]} {text[11:16]} UTC"


def instant(text: str) -> str:
    """To the second: requests come thick and fast."""
    return f"{text[:10]} {text[11:19]} UTC"


def figure(value: Decimal | int) -> str:
    """A number in groups of three digits, which a narrow blank separates."""
    return f"{value:,}".replace(",", "\u202f")


def opens(name: str) -> str:
    """What an ability or a module opens, where its name does not say it already."""
    found = "everything" if name == EVERYTHING else ABILITIES.get(name) or MODULES.get(name, "")
    return "" if found == name else found
