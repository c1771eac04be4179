"""The fields of subscriptions and of their log (decisions, sections 2 and 6)."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from wmsd.base.fields import Id, Input, Model, Name, Recorded, Sealed, Timestamp, choice, not_among, refuse
from wmsd.base.listing import CursorQuery, PageQuery, QueryTimestamp, several_of
from wmsd.outbox.events import EVENTS
from wmsd.webhooks.signing import standard_key

EVERY_EVENT: Final = "*"
TEST_EVENT: Final = "webhook.test"
LONGEST_URL: Final = 2048
SHORTEST_SECRET: Final = 16
RECOMMENDED_SECRET: Final = 32
SHORT_SECRET: Final = f"The secret is short: {RECOMMENDED_SECRET} random characters or more are recommended."

AuthType = Literal["hmac", "bearer", "basic", "custom"]
DeliveryStatus = Literal["pending", "held", "delivered", "exhausted", "skipped"]
DELIVERY_STATUSES: Final = ("pending", "held", "delivered", "exhausted", "skipped")


def _event(name: str) -> str:
    if name != EVERY_EVENT and name not in EVENTS:
        raise not_among(name, f"{', '.join(EVENTS)}, or {EVERY_EVENT} alone")
    return name


EventChoice = Annotated[str, AfterValidator(_event), choice("EventChoice", [EVERY_EVENT, *EVENTS])]


def _events(names: list[str]) -> list[str]:
    if len(set(names)) != len(names):
        raise refuse("must not name one event twice")
    if EVERY_EVENT in names and len(names) > 1:
        raise refuse(f"must be {EVERY_EVENT} alone, or names of events")
    return names


def _visible(value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise refuse("must be visible ASCII characters")
    return value


def _secret(value: str) -> str:
    try:
        standard_key(value)
    except ValueError as error:
        raise refuse(str(error)) from None
    return value


def _user(value: str) -> str:
    if ":" in value:
        raise refuse("must not contain a colon")
    return value


Secret = Annotated[
    str,
    Field(min_length=SHORTEST_SECRET, max_length=255),
    AfterValidator(_visible),
    AfterValidator(_secret),
    Sealed,
]
Credential = Annotated[str, Field(min_length=1, max_length=4000), AfterValidator(_visible), Sealed]
UserName = Annotated[
    str, Field(min_length=1, max_length=255), AfterValidator(_visible), AfterValidator(_user), Sealed
]
CustomHeaders = Annotated[dict[str, str], Field(min_length=1, max_length=20), Sealed]


class SubscriptionFields(Input):
    name: Name
    url: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_URL,
            description="The address to send to: https, without credentials. A private network is allowed only if "
            "webhooks.allow_networks and webhooks.allow_ports of the installation admit it.",
        ),
    ]
    events: Annotated[
        list[EventChoice],
        Field(min_length=1, max_length=100, description="Names of events, or `*` alone for all of them."),
        AfterValidator(_events),
    ]
    auth_type: AuthType = "hmac"
    active: Annotated[
        bool,
        Field(
            description="While it is false, nothing is queued, and deliveries queued before wait until it is true."
        ),
    ] = True
    secret: Annotated[
        Secret | None,
        Field(
            description="For hmac: the key that signs. Write only. At least 32 random characters are recommended."
        ),
    ] = None
    token: Annotated[
        Credential | None, Field(description="For bearer: sent as `Authorization: Bearer …`. Write only.")
    ] = None
    username: Annotated[UserName | None, Field(description="For basic, with the password. Write only.")] = None
    password: Annotated[Credential | None, Field(description="For basic. Write only.")] = None
    headers: Annotated[
        CustomHeaders | None, Field(description="For custom: the headers to send, by name. Write only.")
    ] = None


class SubscriptionChanges(SubscriptionFields, partial=True):
    """The fields to change; the others stay. A new secret replaces the old one at once; see rotate-secret."""


class NewSecret(Input):
    secret: Annotated[Secret, Field(description="The new secret. For 24 hours the old one signs too.")]


class RedeliveryRange(Input):
    """Which deliveries to send again: those that were queued in a time and are over."""

    since: Timestamp
    until: Annotated[Timestamp | None, Field(description="Now, when it is not sent.")] = None
    failed: Annotated[bool, Field(description="Only those that were exhausted or skipped.")] = False
    after: Annotated[
        Id | None, Field(description="The `next_after` of the answer before, to go on with a long range.")
    ] = None


class Redelivered(Model):
    """What is sent again."""

    deliveries: Annotated[int, Field(description="How many are sent again by this request.")]
    next_after: Annotated[
        Id | None, Field(description="Send it as `after` for the next ones; null when none are left.")
    ]


class LastDelivery(Model):
    """The result of the last attempt."""

    id: Id
    event: str
    status: DeliveryStatus
    attempted_at: Timestamp
    response_status: int | None
    error: str | None


class Subscription(Recorded):
    """A webhook subscription. Its credentials are never shown."""

    READ_ONLY = Recorded.READ_ONLY | {
        *("has_secret", "previous_secret_expires_at", "failing_since", "switched_off_at"),
        *("switched_off_because", "last_delivery", "warnings"),
    }

    name: Name
    url: str
    events: list[EventChoice]
    auth_type: AuthType
    active: bool
    has_secret: Annotated[bool, Field(description="Whether it has the credentials of its auth_type.")]
    previous_secret_expires_at: Annotated[
        Timestamp | None, Field(description="Until then the previous secret signs too.")
    ]
    failing_since: Annotated[
        Timestamp | None, Field(description="The first failure since the last success; null when there is none.")
    ]
    switched_off_at: Annotated[
        Timestamp | None,
        Field(description="When the service switched it off; `active: true` switches it on again."),
    ]
    switched_off_because: str | None
    last_delivery: LastDelivery | None
    warnings: list[str]


class SubscriptionQuery(PageQuery):
    pass


class SubscriptionCursorQuery(CursorQuery):
    pass


class Attempt(Model):
    """One attempt to send, and the answer."""

    number: int
    at: Timestamp
    milliseconds: int
    response_status: int | None
    response_body: Annotated[
        str | None, Field(description="The first 2 kB of the answer; null if the installation keeps no answers.")
    ]
    error: str | None


class Delivery(Model):
    """A delivery with its attempts, the oldest first."""

    id: Id
    sequence: Annotated[
        int, Field(description="X-Webhook-Sequence: its number within the subscription, without gaps.")
    ]
    event_id: Annotated[str | None, Field(description="X-Webhook-Id; null when the event is no longer kept.")]
    event: str | None
    entity_id: Id
    status: Annotated[
        DeliveryStatus,
        Field(
            description="pending: it is sent when it is due. held: it waits for an earlier one of the same entity."
            " delivered, exhausted, skipped: it is done, and can be sent again."
        ),
    ]
    due_at: Timestamp | None
    skipped_because: str | None
    created_at: Timestamp
    attempts: list[Attempt]


class DeliveryQuery(CursorQuery):
    status: Annotated[
        tuple[Any, ...] | None,
        several_of(DELIVERY_STATUSES),
        WithJsonSchema({"type": "string"}),
        Field(description=f"One or several of {', '.join(DELIVERY_STATUSES)}, separated by commas."),
    ] = None
    since: Annotated[
        QueryTimestamp | None, Field(description="Only deliveries queued at this moment or later.")
    ] = None
