"""Makes and checks recovery phrases. A phrase exists in memory only, until whoever asked for it has it."""

from wmsd.db.engine.transaction import Transaction
from wmsd.maintenance.keys.recovery_phrase import Phrase, new_phrase
from wmsd.tenants.keys import recovery_phrases
from wmsd.tenants.keys.recovery_phrases import KnownPhrase


def create(tx: Transaction, replaces: str | None) -> Phrase:
    """A new phrase, which backups are sealed to from now on, beside the one that is in use until the new one is
    checked. `replaces` is the fingerprint of that one. Raises Problem (409) when another one is in use.
    """
    phrase = new_phrase()
    recovery_phrases.add(tx, phrase.recipient, replaces)
    return phrase


def check(tx: Transaction, typed: Phrase) -> KnownPhrase:
    """Notes that it was typed. Raises Problem (422) when the installation does not have it."""
    return recovery_phrases.check(tx, typed.recipient)
