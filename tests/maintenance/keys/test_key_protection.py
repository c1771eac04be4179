"""The warning that the keys would be lost with the machine: when it appears, and when it counts as a problem."""

import pytest

from wmsd.maintenance.keys.key_protection import KnownKeys, protection
from wmsd.settings.sections.backup import Backup
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

AT = "2026-11-26T10:00:00.000Z"
UNCHECKED = KnownPhrase("age1unchecked", AT)
CHECKED = KnownPhrase("age1checked", AT, AT)
OPEN = KnownKeys([], None, False, 3, 2)
BOTH = "all API tokens (3) and webhook credentials (2)"


@pytest.mark.parametrize(
    ("known", "settings", "has_backup", "state", "is_wrong", "is_told"),
    [
        (OPEN, Backup(), True, "none", True, True),
        (OPEN, Backup(), False, "none", False, False),
        (OPEN._replace(tokens=0, credentials=0), Backup(), True, "none", False, False),
        (OPEN._replace(tokens=0), Backup(), True, "none", True, True),
        (OPEN._replace(phrases=[UNCHECKED]), Backup(), True, "not checked", True, True),
        (OPEN._replace(phrases=[UNCHECKED, CHECKED]), Backup(), True, "phrase", False, False),
        (OPEN._replace(phrases=[CHECKED]), Backup(), True, "phrase", False, False),
        (OPEN._replace(declined_at=AT), Backup(), True, "declined", False, True),
        (OPEN._replace(declined_at=AT), Backup(), False, "declined", False, True),
        (OPEN._replace(declined_at=AT, phrases=[UNCHECKED]), Backup(), True, "not checked", True, True),
        (OPEN._replace(are_sealed=True), Backup(), True, "key file", False, False),
        (OPEN, Backup(passphrase_file="words"), True, "passphrase", False, False),
        (OPEN, Backup(every="never"), True, "no backups", False, False),
    ],
)
def test_when_it_is_told(
    known: KnownKeys, settings: Backup, has_backup: bool, state: str, is_wrong: bool, is_told: bool
) -> None:
    found = protection(known, settings, has_backup)
    assert (found.state, found.is_wrong, bool(found.sentence), bool(found.remedy)) == (
        state,
        is_wrong,
        is_told,
        is_told,
    )
    assert not is_told or found.sentence == found.pattern.format_map(found.facts)


def test_the_sentence_says_what_is_lost() -> None:
    assert BOTH in protection(OPEN, Backup(), True).sentence
    assert UNCHECKED.fingerprint in protection(OPEN._replace(phrases=[UNCHECKED]), Backup(), True).sentence
    assert AT in protection(OPEN._replace(declined_at=AT), Backup(), True).sentence
