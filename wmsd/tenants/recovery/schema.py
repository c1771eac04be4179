"""The fields of the list of tasks after a restore."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import Id, Input, Model, Timestamp
from wmsd.tenants.recovery.store import How, Kind

MOST_AT_ONCE = 1000


class RecoveryEntry(Model):
    """Something that must be created again, or access that may have come back."""

    id: Id
    kind: Kind
    check: Annotated[str, Field(description="The name of its kind, as `wmsd doctor` has it.")]
    sentence: Annotated[str, Field(description="What is the matter.")]
    remedy: Annotated[str, Field(description="What to do.")]
    user_id: Id | None
    company_id: Id | None
    record_id: Annotated[Id | None, Field(description="Of the webhook, the site or the platform token.")]
    subject: Annotated[str, Field(description="The user's e-mail address, or the company's code.")]
    name: Annotated[str, Field(description="Of the token, the webhook or the site; the role of a user.")]
    host: Annotated[str | None, Field(description="Of the webhook's receiver.")]
    tokens: Annotated[int | None, Field(description="How many tokens of this user work.")]
    last_used_at: Timestamp | None
    found_at: Timestamp
    done_at: Timestamp | None
    done_as: How | None
    done_by: str | None


class RecoveryList(Model):
    """The list of tasks after a restore. `lost` must be created again, and `access` must be confirmed or ended.
    Entries in `done` are settled.
    """

    access_unknown_after: Annotated[
        Timestamp | None,
        Field(description="Revocations and users disabled after this moment are not known. Null: all are known."),
    ]
    lost: list[RecoveryEntry]
    access: list[RecoveryEntry]
    done: list[RecoveryEntry]


class RecoveryChoice(Input):
    """The entries to settle: some by their ids, or every entry to which the decision can apply."""

    entries: Annotated[list[Id], Field(max_length=MOST_AT_ONCE, description="Their ids.")] = []
    every: Annotated[bool, Field(description="Every open one, in place of ids.")] = False


class EndedAccess(RecoveryChoice):
    """The entries to settle by ending their access. `every` leaves out platform admins."""

    keep_users: Annotated[
        bool,
        Field(description="Only revoke the users' tokens and end their sessions; they may sign in again."),
    ] = False


class TickedOff(Model):
    message: str
    entries: Annotated[int, Field(description="How many were ticked off by this request.")]
