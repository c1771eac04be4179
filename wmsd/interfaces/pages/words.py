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


def opens(name: str) -> str:
    """What an ability or a module opens, where its name does not say it already."""
    found = "everything" if name == EVERYTHING else ABILITIES.get(name) or MODULES.get(name, "")
    return "" if found == name else found
