"""Words for people, for what programs say by codes."""

from typing import Final

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
