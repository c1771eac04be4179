"""The fields of deliveries, of their filters, and of the range to send again (decisions, section 6)."""

import re
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from wmsd.contract.fields import Id, Input, Model, Timestamp, choice_of, not_among, validation_error
from wmsd.contract.list_queries import CursorQuery, QueryTimestamp, several_of
from wmsd.events.outbox.events import EVENTS, TEST_EVENT
from wmsd.events.webhooks.schema import DELIVERY_STATUSES, DeliveryStatus

ClosedStatus = Literal["delivered", "exhausted", "skipped"]
CLOSED_STATUSES: Final = get_args(ClosedStatus)
WaitingReason = Literal["credentials_missing"]
MOST_ATTEMPTS: Final = 10
"""The maximum number of attempts in the details of a delivery. The details have the latest attempts; a delivery
may have more.
"""
MOST_RECORDS: Final = 20
"""The maximum number of records in one filter."""
ENTITIES: Final = (*dict.fromkeys(event.partition(".")[0] for event in EVENTS), TEST_EVENT.partition(".")[0])
"""The kinds of records that events are about."""
_RECORD: Final = re.compile(r"(?:([a-z_]{1,40}):)?([0-9]{1,15})", re.ASCII)


def _known(name: str) -> str:
    if name not in EVENTS:
        raise not_among(name, ", ".join(EVENTS))
    return name


EventName = Annotated[str, AfterValidator(_known), choice_of("EventName", EVENTS)]


def records_of(value: object) -> tuple[tuple[str, int], ...]:
    """Return the records that a filter names, as (entity, id). `sales_order:12` is one record. `12` means the
    records of all kinds with this id. Several records are separated by commas.
    """
    if not isinstance(value, str):
        return tuple(value)  # type: ignore[arg-type]  # already parsed
    given = value.split(",")
    if len(given) > MOST_RECORDS:
        raise validation_error(f"must list at most {MOST_RECORDS} records")
    found: list[tuple[str, int]] = []
    for each in given:
        match = _RECORD.fullmatch(each.strip())
        if match is None:
            raise validation_error("must be an id such as 12, or a record such as sales_order:12")
        if match[1] is not None and match[1] not in ENTITIES:
            raise not_among(match[1], ", ".join(ENTITIES))
        found += [(entity, int(match[2])) for entity in ([match[1]] if match[1] else ENTITIES)]
    return tuple(dict.fromkeys(found))


def _record(text: str) -> str:
    records_of(text)
    return text


RecordChoice = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_record)]


class Attempt(Model):
    """One attempt to send, and the answer."""

    number: int
    at: Timestamp
    milliseconds: int
    response_status: int | None
    response_body: Annotated[
        str | None,
        Field(description="The first 2 kB of the answer; null if the installation does not store answers."),
    ]
    error: str | None


class Delivery(Model):
    """A delivery. `attempts` has the attempts in order, the oldest first."""

    id: Id
    sequence: Annotated[
        int,
        Field(
            description="X-Webhook-Sequence: the number of the delivery within the subscription, "
            "without gaps in an epoch."
        ),
    ]
    epoch: Annotated[
        str,
        Field(description="X-Webhook-Epoch: the epoch of the company's history in which the delivery was queued."),
    ]
    sequence_gap: Annotated[
        str | None,
        Field(
            description="X-Webhook-Sequence-Gap: the numbers that are skipped before this delivery at the "
            "start of its epoch, such as 13-28."
        ),
    ]
    event_id: Annotated[str | None, Field(description="X-Webhook-Id; null if the event is no longer stored.")]
    event: str | None
    entity: Annotated[
        str, Field(description="The kind of record that the delivery is about, such as sales_order.")
    ]
    entity_id: Id
    status: Annotated[
        DeliveryStatus,
        Field(
            description="pending: wmsd sends the delivery when it is due. held: the delivery waits for an "
            "earlier one about the same record. delivered, exhausted, skipped: the delivery is "
            "finished, and can be sent again."
        ),
    ]
    due_at: Timestamp | None
    waits_because: Annotated[
        WaitingReason | None,
        Field(
            description="Why the delivery is not sent when it is due. credentials_missing: wmsd cannot "
            "decrypt the credentials of the webhook; the delivery waits, and uses up no "
            "attempts, until the credentials are set again."
        ),
    ]
    skipped_because: str | None
    created_at: Timestamp
    attempts: list[Attempt]


class AttemptDetail(Attempt):
    """An attempt with what was sent and received. Fields that wmsd did not store yet at the time of the attempt
    are null.
    """

    url: Annotated[str | None, Field(description="The address to which wmsd sent the delivery.")]
    sent_headers: Annotated[
        dict[str, str] | None, Field(description="The request headers; credentials are masked.")
    ]
    answer_headers: Annotated[dict[str, str] | None, Field(description="The first 1 kB of the answer's headers.")]


class DeliveryDetail(Delivery):
    """A delivery with all its stored data."""

    body: Annotated[
        str | None,
        Field(description="The request body, the same at each attempt; null if the event is no longer stored."),
    ]
    made: Annotated[int, Field(description="The number of all attempts; `attempts` has the last ten.")]
    attempts: list[AttemptDetail]  # type: ignore[assignment]  # with more fields of each attempt


class DeliveryQuery(CursorQuery):
    status: Annotated[
        tuple[Any, ...] | None,
        several_of(DELIVERY_STATUSES),
        WithJsonSchema({"type": "string"}),
        Field(description=f"One or more of {', '.join(DELIVERY_STATUSES)}, separated by commas."),
    ] = None
    event: Annotated[
        tuple[Any, ...] | None,
        several_of((*EVENTS, TEST_EVENT)),
        WithJsonSchema({"type": "string"}),
        Field(description="Names of events, separated by commas."),
    ] = None
    record: Annotated[
        tuple[Any, ...] | None,
        BeforeValidator(records_of),
        WithJsonSchema({"type": "string"}),
        Field(
            description="The records that the deliveries are about, such as sales_order:12, or 12 for "
            "records of every kind, separated by commas."
        ),
    ] = None
    since: Annotated[
        QueryTimestamp | None, Field(description="Only deliveries queued at this date and time or later.")
    ] = None
    until: Annotated[
        QueryTimestamp | None, Field(description="Only deliveries queued at this date and time or before.")
    ] = None


class RedeliveryRange(Input):
    """The deliveries to send again: finished deliveries that were queued within a period."""

    since: Timestamp
    until: Annotated[Timestamp | None, Field(description="The end of the period. Default: now.")] = None
    failed: Annotated[bool, Field(description="Only exhausted or skipped deliveries.")] = False
    status: Annotated[
        list[ClosedStatus] | None,
        Field(min_length=1, max_length=3, description="Only deliveries with one of these statuses."),
    ] = None
    event: Annotated[
        list[EventName] | None, Field(min_length=1, max_length=100, description="Only deliveries of these events.")
    ] = None
    record: Annotated[
        RecordChoice | None,
        Field(
            description="Only deliveries about this record, such as sales_order:12, "
            "or 12 for records of every kind."
        ),
    ] = None
    after: Annotated[
        Id | None, Field(description="The `next_after` of the previous answer, to continue with a long range.")
    ] = None


class Counted(Model):
    """The number of deliveries in a range. `until` is the end of the counted period, even if the request did not
    set it.
    """

    deliveries: int
    is_whole: Annotated[
        bool, Field(description="True if this is the number of all deliveries; false if there may be more.")
    ]
    until: Timestamp


class Redelivered(Model):
    """The deliveries that are sent again."""

    deliveries: Annotated[int, Field(description="The number of deliveries that this request sends again.")]
    next_after: Annotated[
        Id | None,
        Field(description="The value of `after` for the next request; null if there are no more deliveries."),
    ]
