"""Checks whether the keys of the installation survive the loss of the machine. If they do not, this module
describes what is lost.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Session, Verb, ask_server
from wmsd.data_folder.platform_facts import read_platform
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.transaction import Transaction
from wmsd.settings.sections.backup import Backup
from wmsd.tenants.keys import key_store, recovery_phrases
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

VERB: Final = "key_protection"
TOKENS: Final = """
    SELECT count(*) FROM tokens CROSS JOIN users ON users.id = tokens.user_id
    WHERE tokens.revoked_at IS NULL AND tokens.expires_at > ? AND users.disabled_at IS NULL
"""
CREDENTIALS: Final = "SELECT coalesce(sum(json_extract(figures, '$.credentials')), 0) FROM company_figures"
"""Counts the webhooks with credentials in all companies. It reads only stored figures, and opens no company's
file.
"""
LOST: Final = (
    "If this machine is lost, all API tokens ({tokens}) and webhook credentials ({credentials}) are "
    "lost too, because no backup contains the keys."
)
LOST_ON_PURPOSE: Final = (
    "If this machine is lost, all API tokens ({tokens}) and webhook credentials ({credentials}) are lost too. "
    "An admin decided at {declined_at} that backups do not contain the keys."
)
NOT_CHECKED: Final = (
    "If this machine is lost, all API tokens ({tokens}) and webhook credentials ({credentials}) may "
    "be lost too: no one has checked that the recovery phrase {phrase} is written down."
)
CREATE: Final = "Create a recovery phrase on the page First steps, or with `wmsd recovery-phrase create`."
CHECK: Final = (
    "Type the recovery phrase again on the page Recovery phrase, or with `wmsd recovery-phrase "
    "check`. If it is not written down, create another phrase."
)
State = Literal["key file", "passphrase", "phrase", "not checked", "declined", "none", "no backups"]
SAYS: Final[Mapping[State, tuple[str, str]]] = {
    "none": (LOST, CREATE),
    "declined": (LOST_ON_PURPOSE, CREATE),
    "not checked": (NOT_CHECKED, CHECK),
}
"""For each state in which the keys may be lost: the sentence about the loss, and the advice."""
SETTLED: Final = ("key file", "passphrase", "phrase", "no backups")


class KnownKeys(NamedTuple):
    """What `platform.db` says about the keys, and about what would be lost without them."""

    phrases: list[KnownPhrase]
    """The recovery phrases in use, the newest first."""
    declined_at: str | None
    are_sealed: bool
    """Whether the keys are sealed with a key file. In this case, a restore needs the key file too."""
    tokens: int
    credentials: int


class Protection(NamedTuple):
    """How the keys are protected.

    `sentence` says what may be lost, and `remedy` what to do about it. Both are empty if nothing can be lost, or
    if no scheduled backup exists and nobody has decided yet (the state "none"). `is_wrong` is True if an admin
    must act.
    """

    state: State
    is_wrong: bool
    sentence: str
    remedy: str
    facts: Mapping[str, str]
    """The values in `sentence`, by the names of the placeholders in `pattern`."""
    pattern: str
    """`sentence` with placeholders instead of the values."""
    line: str
    """A few words that say how the next backup protects the keys."""


def read_known_keys(tx: Transaction) -> KnownKeys:
    return KnownKeys(
        recovery_phrases.in_use(tx),
        recovery_phrases.declined_at(tx),
        not key_store.are_in_clear(tx),
        tx.value(TOKENS, (tx.timestamp,)),
        tx.value(CREDENTIALS),
    )


def protection(known: KnownKeys, settings: Backup, has_backup: bool) -> Protection:
    """Check whether the keys can be lost. Return the result, with the advice what to do.

    `has_backup` says whether a scheduled backup exists. Before the first one, an admin need not decide about
    unprotected keys (the state "none").
    """
    state, line = _state(known, settings)
    can_be_lost = known.tokens or known.credentials
    if not can_be_lost or state in SETTLED or (state == "none" and not has_backup):
        return Protection(state, False, "", "", {}, "", line)
    facts = {"tokens": str(known.tokens), "credentials": str(known.credentials)}
    if state == "not checked":
        facts["phrase"] = known.phrases[0].fingerprint
    if state == "declined":
        facts["declined_at"] = known.declined_at or ""
    pattern, remedy = SAYS[state]
    is_wrong = has_backup and state != "declined"
    return Protection(state, is_wrong, pattern.format_map(facts), remedy, facts, pattern, line)


def _state(known: KnownKeys, settings: Backup) -> tuple[State, str]:
    """Return the state of the keys, and a description of it in a few words."""
    checked = recovery_phrases.checked(known.phrases)
    if known.are_sealed:
        return "key file", "encrypted with the key file; keep a copy of the key file too"
    if settings.every == "never":
        return "no backups", "no backups are scheduled (backup.every)"
    if settings.passphrase_file:
        return "passphrase", "backups contain the keys, encrypted with the passphrase (backup.passphrase_file)"
    if checked is not None:
        return (
            "phrase",
            f"backups contain the keys, encrypted with the recovery phrase {checked.fingerprint}, checked "
            f"{checked.checked_at}",
        )
    if known.phrases:
        phrase = known.phrases[0].fingerprint
        return "not checked", (
            f"backups contain the keys, encrypted with the recovery phrase {phrase}, not checked yet"
        )
    if known.declined_at is not None:
        return "declined", f"no backup contains the keys: an admin chose this at {known.declined_at}"
    return "none", "no backup contains the keys: see wmsd recovery-phrase create"


def key_protection_verb(platform: Database) -> Verb:
    """Return the function that answers a command which asks the server for `KnownKeys`."""

    async def answer(session: Session, argument: Any) -> dict[str, Any]:
        return (await platform.read(read_known_keys))._asdict()

    return answer


def known_keys(folder: DataFolder) -> KnownKeys | None:
    """Return what platform.db says about the keys, or None if that cannot be read.

    If a server is running, ask the server, because no command can open platform.db while the server uses it.
    Otherwise read the file.
    """
    try:
        said = ask_server(folder, VERB)
        if said is not None:
            return KnownKeys(**{**said, "phrases": [KnownPhrase(*each) for each in said["phrases"]]})
    except (StorageError, TypeError, KeyError):  # a server of another version may send other fields
        return None
    return read_platform(folder, read_known_keys)
