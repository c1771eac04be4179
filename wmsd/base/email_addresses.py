"""E-mail addresses of users: one form for each mailbox, so that one mailbox is one user.

Capital letters do not count. What stands before the @ is in Unicode's composed form (RFC 6532). The domain is as
browsers send it and DNS has it: letters beyond ASCII are in punycode (UTS 46, RFC 5891).
"""

import re
from typing import Final

from wmsd.base.letters import composed_text, decomposed_text

INVALID: Final = "must be an e-mail address"
LONGEST: Final = 254
ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")
PUNYCODE: Final = "xn--"


def mailbox_of(address: str) -> str:
    """The form in which an address is stored and compared. Of what is no address, also some text."""
    local, at, domain = address.rpartition("@")
    return f"{_small(local)}{at}{_in_punycode(domain) or _small(domain)}"


def check_mailbox(address: str) -> str:
    """As `mailbox_of`. Raises ValueError when no user can have the address: it must be one, without characters
    that nobody sees, and with a domain that DNS can have.
    """
    if len(address) > LONGEST or not ADDRESS.fullmatch(address) or not address.isprintable():
        raise ValueError(INVALID)
    local, _, domain = address.rpartition("@")
    found = f"{_small(local)}@{_in_punycode(domain)}"
    if not _in_punycode(domain) or len(found) > LONGEST:
        raise ValueError(INVALID)
    return found


def forms_of_mailbox(address: str) -> tuple[str, ...]:
    """The forms in which a user with this mailbox may be stored, first the one that is typed. Before 1.2 an
    address was stored as it had been typed, in small letters.
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
    """The address with its domain in letters: `y@müller.example`."""
    local, at, domain = address.rpartition("@")
    return f"{local}{at}{_without_punycode(domain)}"


def _small(text: str) -> str:
    return composed_text(composed_text(text).lower())


def _in_punycode(domain: str) -> str:
    """Empty for a domain that cannot be."""
    if domain.isascii():
        return domain.lower()
    if len(domain) > LONGEST:
        return ""
    import idna  # its tables are read only where they are needed

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
