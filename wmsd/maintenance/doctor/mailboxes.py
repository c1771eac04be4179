"""Findings about users who share one mailbox. Earlier versions treated each written form of an e-mail address as a
different address.
"""

from collections import defaultdict
from typing import Final

from wmsd.base.email_addresses import mailbox_of
from wmsd.contract.findings import FindingKind, Found
from wmsd.db.engine.transaction import Transaction
from wmsd.maintenance.doctor.situation import Situation

SHARED: Final = FindingKind(
    "mailbox-shared",
    "warning",
    "These users share one mailbox: {emails}. Their addresses differ only in the Unicode form of some letters.",
    "Decide which user stays. Delete the others with `wmsd user delete EMAIL`, or give them other "
    "addresses with `wmsd user change EMAIL --email NEW`. Copy EMAIL from `wmsd user list`, because "
    "the addresses look the same.",
)
KINDS: Final = (SHARED,)
EMAILS: Final = "SELECT email FROM users ORDER BY id"


def read_emails(tx: Transaction) -> list[str]:
    """Return the e-mail addresses of all users, as they are stored."""
    return [email for (email,) in tx.rows(EMAILS)]


def findings(at: Situation) -> Found:
    """Find users who share a mailbox. wmsd never merges such users, because they may be two people."""
    by_mailbox: defaultdict[str, list[str]] = defaultdict(list)
    for email in at.emails:
        by_mailbox[mailbox_of(email)].append(email)
    for emails in by_mailbox.values():
        if len(emails) > 1:
            yield SHARED.of(emails=", ".join(emails))
