"""E-mail addresses of users. All spellings of an address have one normalised form, so that a mailbox belongs to
only one user.

The normalised form has small letters. The part before the @ is in Unicode's composed form (RFC 6532). Non-ASCII
letters in the domain are in punycode, as browsers and DNS use them (UTS 46, RFC 5891).
"""

import re
from typing import Final

from wmsd.base.letters import composed_text, decomposed_text

INVALID: Final = "must be an e-mail address"
LONGEST: Final = 254
ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")
PUNYCODE: Final = "xn--"


def mailbox_of(address: str) -> str:
    """Return the normalised form of an address, as wmsd stores and compares it. Invalid addresses are normalised
    too.
    """
    local, at, domain = address.rpartition("@")
    return f"{_small(local)}{at}{_in_punycode(domain) or _small(domain)}"


def check_mailbox(address: str) -> str:
    """Return the normalised form of an address. Raise ValueError if no user can have the address.

    The address must be valid and have at most `LONGEST` characters. All its characters must be printable, and it
    must be possible to convert its domain to punycode.
    """
    if len(address) > LONGEST or not ADDRESS.fullmatch(address) or not address.isprintable():
        raise ValueError(INVALID)
    local, _, domain = address.rpartition("@")
    found = f"{_small(local)}@{_in_punycode(domain)}"
    if not _in_punycode(domain) or len(found) > LONGEST:
        raise ValueError(INVALID)
    return found


def forms_of_mailbox(address: str) -> tuple[str, ...]:
    """Return all forms in which wmsd may have stored this address of a user.

    The first form is the address in small letters, as wmsd stored it before version 1.2. The next one is the
    normalised form (`mailbox_of`). After it come the variants with decomposed letters, and with the domain not in
    punycode.
    """
    typed = address.lower()
    if typed.isascii() and PUNYCODE not in typed:
        return (typed,)
    mailbox = mailbox_of(address)
    local, at, domain = mailbox.rpartition("@")
    shown = readable_address(mailbox).rpartition("@")[2]
    domains, locals_ = (domain, shown, decomposed_text(shown)), (local, decomposed_text(local))
    return tuple(dict.fromkeys((typed, *(f"{before}{at}{after}" for after in domains for before in locals_))))


def readable_address(address: str) -> str:
    """Return the address with the letters of its domain instead of punycode: `y@müller.example`."""
    local, at, domain = address.rpartition("@")
    return f"{local}{at}{_without_punycode(domain)}"


def _small(text: str) -> str:
    return composed_text(composed_text(text).lower())


def _in_punycode(domain: str) -> str:
    """Return the domain in punycode, or an empty text if the domain cannot be converted."""
    if domain.isascii():
        return domain.lower()
    if len(domain) > LONGEST:
        return ""
    import idna  # its tables are loaded only when they are needed

    try:
        return idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        return ""


def _without_punycode(domain: str) -> str:
    if not domain.isascii() or PUNYCODE not in domain:
        return domain
    import idna

    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain
