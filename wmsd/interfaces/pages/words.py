"""Words for people, for what programs say by codes."""

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


def choice(name: str) -> str:
    """One of several choices, with what it opens where that is known."""
    opens = "everything" if name == EVERYTHING else ABILITIES.get(name) or MODULES.get(name)
    return name if opens in (None, name) else f"{name}: {opens}"
