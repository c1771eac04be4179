"""The operations of the recovery phrase, for platform admins."""

from typing import Annotated, Any, Final

from pydantic import Field

from wmsd.base.problems import invalid
from wmsd.contract.context import Caller
from wmsd.contract.fields import Input, Model, Sealed, Timestamp
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.scheduled_process import Seen
from wmsd.maintenance.keys import key_protection, recovery_phrase
from wmsd.maintenance.keys.key_protection import Protection, State
from wmsd.maintenance.keys.recovery_phrase import Phrase, WrongPhrase
from wmsd.platform.admin_view.service import OversightService
from wmsd.tenants.companies.record_lists import for_platform_admins
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.keys import recovery_phrases

LONGEST: Final = 1000


class PhraseShown(Model):
    """A recovery phrase without its words. `recipient` is the public age key to which backups seal the keys."""

    fingerprint: str
    recipient: str
    created_at: Timestamp
    checked_at: Timestamp | None
    replaced_at: Timestamp | None


class KeysProtected(Model):
    """The protection of the keys in the next backup.

    `says` says what is lost if this machine is lost, with placeholders for `facts`. `remedy` says what to do. Both
    are empty if the admin has nothing to decide.

    `is_settled` is true if the keys are protected, or if no backups are scheduled. `is_wrong` is true if an admin
    must act.
    """

    state: State
    is_wrong: bool
    is_settled: bool
    says: str
    facts: dict[str, str]
    remedy: str
    checked: str | None
    """The fingerprint of the current phrase that a person has checked, or null."""
    declined_at: Timestamp | None
    phrases: list[PhraseShown]


class PhraseToCreate(Input):
    replaces: Annotated[
        str | None, Field(max_length=20, description="The fingerprint of the checked phrase that is in use.")
    ] = None


class TypedPhrase(Input):
    phrase: Annotated[str, Field(min_length=1, max_length=LONGEST), Sealed]


class NewPhrase(Model):
    """A new recovery phrase. Its words are shown only this once."""

    words: list[str]
    fingerprint: str
    passphrase_goes_first: bool
    """True if backups encrypt the keys with the passphrase of the settings, and not with this phrase."""


async def protection_of(installation: Installation, seen: Seen | None) -> Protection:
    """Return how the keys are protected. `seen` has the existing backups."""
    known = await installation.platform.read(key_protection.read_known_keys)
    has_backup = seen is not None and seen.made is not None
    return key_protection.protection(known, installation.settings.backup, has_backup)


@for_platform_admins(answer="object", returns=KeysProtected)
async def get_recovery_phrase(service: OversightService) -> dict[str, Any]:
    """Get the protection of the keys.

    The answer says whether the keys of the installation survive the loss of the machine. It also lists all
    recovery phrases, past and present.
    """
    seen = None if service.jobs.backups is None else await service.jobs.backups.seen()
    found = await protection_of(service.installation, seen)
    phrases, declined_at = await service.installation.platform.read(
        lambda tx: (recovery_phrases.every(tx), recovery_phrases.declined_at(tx))
    )
    checked = recovery_phrases.checked([each for each in phrases if each.replaced_at is None])
    return {
        "state": found.state,
        "is_wrong": found.is_wrong,
        "is_settled": found.state in key_protection.SETTLED,
        "says": found.pattern,
        "facts": dict(found.facts),
        "remedy": found.remedy,
        "checked": None if checked is None else checked.fingerprint,
        "declined_at": declined_at,
        "phrases": [{**each._asdict(), "fingerprint": each.fingerprint} for each in phrases],
    }


@for_platform_admins(answer="object", returns=NewPhrase, codes=("INVALID_STATUS",))
async def create_recovery_phrase(
    service: OversightService, body: PhraseToCreate, caller: Caller
) -> dict[str, Any]:
    """Create a recovery phrase.

    The answer contains the words of the phrase, which wmsd does not store.
    """
    phrase = await service.installation.platform.write(
        lambda tx: recovery_phrase.create(tx, body.replaces), caller.actor
    )
    return {
        "words": phrase.words.split(),
        "fingerprint": phrase.fingerprint,
        "passphrase_goes_first": bool(service.installation.settings.backup.passphrase_file),
    }


@for_platform_admins(answer="object", returns=Message, writes=True)
def check_recovery_phrase(tx: Transaction, body: TypedPhrase) -> dict[str, Any]:
    """Check a written recovery phrase.

    After a successful check, only this phrase encrypts the keys in backups.
    """
    try:
        typed = Phrase(body.phrase)
    except WrongPhrase as error:
        raise invalid({"phrase": [str(error)]}) from None
    known = recovery_phrases.check(tx, typed.recipient)
    return {"message": f"These are the words of the recovery phrase {known.fingerprint}."}


@for_platform_admins(answer="object", returns=Message, writes=True, codes=("INVALID_STATUS",))
def decline_recovery_phrase(tx: Transaction) -> dict[str, Any]:
    """Decline a recovery phrase.

    wmsd still reports what is lost if this machine is lost.
    """
    recovery_phrases.decline(tx)
    return {"message": "This installation continues without a recovery phrase."}
