"""Words for people, in place of the codes that programs use."""

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from wmsd.base.time_zones import MINUTE, SECOND
from wmsd.contract.access import EVERYTHING, MODULES
from wmsd.interfaces.pages.kit.text import zone
from wmsd.interfaces.pages.kit.text.language import current, formats, translate_count
from wmsd.interfaces.pages.kit.text.language import translate_text as _

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
"""The English words for the statuses of documents."""
DISPOSITIONS: Final = {"RESTOC": "Restock", "CARANTINA": "Quarantine", "DISTRUS": "Destroyed"}
"""What happens to returned goods."""
LABEL_SIZES: Final = {
    "label-sheet": "A4 sheet with 24 labels, 70 x 37 mm",
    "label-a6": "A6, 105 x 148 mm",
    "label-62x29": "Label roll, 62 x 29 mm",
    "label-100x50": "Label roll, 100 x 50 mm",
    "label-100x150": "Label roll, 100 x 150 mm",
}
WORDS: Final = {
    **STATUSES,
    **DISPOSITIONS,
    **LABEL_SIZES,
    "active": "active",
    "revoked": "revoked",
    "pending": "pending",
    "held": "held",
    "delivered": "delivered",
    "exhausted": "exhausted",
    "skipped": "skipped",
    "refused": "refused",
    "created": "created",
    "moved": "status changed",
    "changed": "changed",
    "IN": "In, from the partner",
    "OUT": "Out, to the partner",
    "CLIENT": "Customer",
    "FURNIZOR": "Supplier",
    "TRANSPORTATOR": "Carrier",
}


CHOICES: Final = {
    "decimal": "Decimal mark",
    "delimiter": "Column separator",
    "encoding": "Encoding",
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "windows-1250": "Windows-1250 (Central Europe)",
    "windows-1252": "Windows-1252 (Western Europe)",
    "iso-8859-2": "ISO 8859-2 (Central Europe)",
    "cp852": "CP852 (DOS, Central Europe)",
    "cp850": "CP850 (DOS, Western Europe)",
    "mac-roman": "Mac Roman",
}


def choice(name: str) -> str:
    """Return the text for a property of an import file, such as its encoding, or for the value of a property."""
    return _(CHOICES.get(name, name))


def kind(name: str) -> str:
    """Return the text for a kind of records that can be imported."""
    return _(name.replace("-", " ").capitalize())


def status(code: str) -> str:
    """Return the word for a code of the API, or the code if it has no word."""
    return _(WORDS[code]) if code in WORDS else code


def yes_or_no(value: bool) -> str:
    return _("yes") if value else _("no")


def date(text: str) -> str:
    """Return the day of a date or timestamp from the API, in the language of the page."""
    return formats().date(zone.local_text(text))


def moment(text: str) -> str:
    """Return a timestamp from the API without seconds, in the time zone of the page."""
    return _minute(text[:MINUTE], zone.current.get().zone, current.get())


def instant(text: str) -> str:
    """Return a timestamp from the API with seconds, for lists with many entries in a minute."""
    return _to(text, SECOND)


@lru_cache(maxsize=4096)
def _minute(text: str, _zone: ZoneInfo, _language: str) -> str:
    """Return the text of a minute, which depends on the zone and the language of the page.

    The result is cached, because lists show the same moments again and again.
    """
    return _to(text, MINUTE)


def _to(text: str, end: int) -> str:
    local = zone.local_text(text)
    return f"{formats().date(local)}, {local[11:end]}{zone.which(text)}"


def grouped_number(value: Decimal | int) -> str:
    """Return a number in groups of three digits."""
    whole, point, rest = f"{value:,}".partition(".")
    written = formats()
    return whole.replace(",", written.group) + (written.decimal + rest if point else "")


def opens(name: str, abilities: Mapping[str, str]) -> str:
    """Return a text that says what an ability or a module allows. Return "" if its name says the same.

    `abilities` has the descriptions of the abilities in force, by their names.
    """
    found = "everything" if name == EVERYTHING else abilities.get(name) or MODULES.get(name, "")
    return "" if found == name else _(found)


def days_left(days: int) -> str:
    """Return a text that says in how many days something expires."""
    if days < 0:
        return _("has expired")
    if days == 0:
        return _("expires within a day")
    return translate_count("expires in %(num)s day", "expires in %(num)s days", days) % {"num": days}
