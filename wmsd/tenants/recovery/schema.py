"""The fields of the list of tasks after a restore."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import Id, Input, Model, Timestamp
from wmsd.tenants.recovery.store import How, Kind

MOST_AT_ONCE = 1000


class RecoveryEntry(Model):
    """A task after a restore: create something again, or check access that may have come back."""

    id: Id
    kind: Kind
    check: Annotated[str, Field(description="The name of the kind of finding, as in `wmsd doctor`.")]
    sentence: Annotated[str, Field(description="What the problem is.")]
    remedy: Annotated[str, Field(description="What to do.")]
    user_id: Id | None
    company_id: Id | None
    record_id: Annotated[Id | None, Field(description="The id of the webhook, the site or the platform token.")]
    subject: Annotated[str, Field(description="The user's e-mail address, or the company's code.")]
    name: Annotated[
        str, Field(description="The name of the token, the webhook or the site; for a user, the role.")
    ]
    host: Annotated[str | None, Field(description="The host of the webhook's receiver.")]
    tokens: Annotated[int | None, Field(description="The number of tokens of this user that still work.")]
    last_used_at: Timestamp | None
    found_at: Timestamp
    done_at: Timestamp | None
    done_as: How | None
    done_by: str | None


class RecoveryList(Model):
    """The list of tasks after a restore. `lost` has the things that must be created again. `access` has the access
    that must be confirmed or ended. The tasks in `done` are settled.
    """

    access_unknown_after: Annotated[
        Timestamp | None,
        Field(
            description="The date and time after which wmsd does not know which tokens were revoked and "
            "which users were disabled; null: wmsd knows all."
        ),
    ]
    lost: list[RecoveryEntry]
    access: list[RecoveryEntry]
    done: list[RecoveryEntry]


class RecoveryChoice(Input):
    """The entries to settle: the entries with the ids `entries`, or every open entry that the operation can
    settle.
    """

    entries: Annotated[
        list[Id], Field(max_length=MOST_AT_ONCE, description="The ids of the entries to settle.")
    ] = []
    every: Annotated[
        bool, Field(description="Settle every open entry, instead of the entries with these ids.")
    ] = False


class EndedAccess(RecoveryChoice):
    """The entries of the list after a restore whose access ends. `every` means all, except platform admins."""

    keep_users: Annotated[
        bool,
        Field(
            description="Only revoke the tokens of the users and end their sessions. The users may sign in again."
        ),
    ] = False


class TickedOff(Model):
    message: str
    entries: Annotated[int, Field(description="How many entries this request has settled.")]
