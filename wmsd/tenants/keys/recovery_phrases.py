"""Stores the public keys of the recovery phrases. Backups encrypt the installation's keys with them."""

import hashlib
from typing import Final, NamedTuple

from wmsd.base.problems import Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies.store import write_audit

DIGITS: Final = 4


def phrase_fingerprint(recipient: str) -> str:
    """Return the fingerprint by which people distinguish recovery phrases, such as 3f2a-91bc."""
    digest = hashlib.sha256(recipient.encode()).hexdigest()
    return f"{digest[:DIGITS]}-{digest[DIGITS : 2 * DIGITS]}"


class KnownPhrase(NamedTuple):
    """A recovery phrase, without its secret words."""

    recipient: str
    """The public key of the phrase, for the encryption tool age."""
    created_at: str
    checked_at: str | None = None
    """When a user last typed the phrase, or None if no user has typed it yet."""
    replaced_at: str | None = None
    """The time when another phrase replaced this phrase, or None. This phrase decrypts only backups from before
    this time.
    """

    @property
    def fingerprint(self) -> str:
        return phrase_fingerprint(self.recipient)


PHRASES: Final = "SELECT recipient, created_at, checked_at, replaced_at FROM recovery_phrases ORDER BY id DESC"
HAS_TABLE: Final = "SELECT count(*) FROM sqlite_schema WHERE name = 'recovery_phrases'"
ADD: Final = "INSERT INTO recovery_phrases (recipient, created_at) VALUES (?, ?)"
REPLACE_UNCHECKED: Final = """
    UPDATE recovery_phrases SET replaced_at = ? WHERE replaced_at IS NULL AND checked_at IS NULL
"""
REPLACE_OTHERS: Final = "UPDATE recovery_phrases SET replaced_at = ? WHERE replaced_at IS NULL AND recipient <> ?"
DECLINE: Final = "INSERT OR IGNORE INTO recovery_phrase_declined (one, declined_at) VALUES (1, ?)"


def every(tx: Transaction) -> list[KnownPhrase]:
    """Return all recovery phrases, including replaced ones, the newest first. Return an empty list if a version
    without recovery phrases wrote platform.db.
    """
    return [KnownPhrase(*row) for row in tx.rows(PHRASES)] if tx.value(HAS_TABLE) else []


def in_use(tx: Transaction) -> list[KnownPhrase]:
    """Return the phrases that will be able to decrypt the next backup, the newest first. They are the phrase that
    a user has checked, and a newer phrase that no user has checked yet.
    """
    return [each for each in every(tx) if each.replaced_at is None]


def checked(phrases: list[KnownPhrase]) -> KnownPhrase | None:
    """Return the first of `phrases` whose words a user has typed as a check, or None."""
    return next((each for each in phrases if each.checked_at is not None), None)


def declined_at(tx: Transaction) -> str | None:
    """Return when an admin decided to work without a recovery phrase, or None if nobody decided this."""
    return tx.find_text("SELECT declined_at FROM recovery_phrase_declined") if tx.value(HAS_TABLE) else None


def add(tx: Transaction, recipient: str, replaces: str | None) -> None:
    """Add a new phrase, whose public key is `recipient`. A user must then check it by typing its words.

    `replaces` is the fingerprint of the checked phrase that the new phrase will replace, or None. The checked
    phrase stays in use until the new one is checked. Raise Problem (409) if `replaces` is not the checked phrase
    in use.
    """
    now_checked = checked(in_use(tx))
    known = None if now_checked is None else now_checked.fingerprint
    if known != replaces:
        there = (
            "Your request replaces a recovery phrase, but no checked recovery phrase is in use."
            if known is None
            else f"The recovery phrase in use is {known}, but your request replaces a different one."
        )
        raise Problem("INVALID_STATUS", f"{there} Check which phrase you want to replace, then try again.")
    tx.execute(REPLACE_UNCHECKED, (tx.timestamp,))
    tx.execute(ADD, (recipient, tx.timestamp))
    write_audit(tx, "recovery-phrase.create", phrase_fingerprint(recipient))


def check(tx: Transaction, recipient: str) -> KnownPhrase:
    """Record that a user has typed the words of the phrase with this public key, and return the phrase. From now
    on, only this phrase is in use. Raise Problem (422) if the phrase was not in use.
    """
    typed = next((each for each in every(tx) if each.recipient == recipient), None)
    if typed is None or typed.replaced_at is not None:
        raise Problem("VALIDATION_FAILED", _not_in_use(typed, phrase_fingerprint(recipient), in_use(tx)))
    tx.execute("UPDATE recovery_phrases SET checked_at = ? WHERE recipient = ?", (tx.timestamp, recipient))
    tx.execute(REPLACE_OTHERS, (tx.timestamp, recipient))
    tx.execute("DELETE FROM recovery_phrase_declined")
    write_audit(tx, "recovery-phrase.check", typed.fingerprint)
    return typed._replace(checked_at=tx.timestamp)


def _not_in_use(typed: KnownPhrase | None, typed_fingerprint: str, now: list[KnownPhrase]) -> str:
    newest = (
        f"Type the words of this installation's phrase {now[0].fingerprint}, created at {now[0].created_at}."
        if now
        else "This installation has no recovery phrase: create one."
    )
    words = f"These words are the recovery phrase {typed_fingerprint}"
    if typed is None:
        return f"{words} of another installation. {newest}"
    return f"{words}, which was replaced at {typed.replaced_at}. {newest}"


def decline(tx: Transaction) -> None:
    """Record the decision to work without a phrase. Raise Problem (409) if there is a checked phrase."""
    if (known := checked(in_use(tx))) is not None:
        raise Problem(
            "INVALID_STATUS",
            (
                "You cannot continue without a recovery phrase: the phrase "
                f"{known.fingerprint} is in use and protects the keys."
            ),
        )
    if tx.execute(DECLINE, (tx.timestamp,)).rowcount:
        write_audit(tx, "recovery-phrase.decline", "recovery phrase")
