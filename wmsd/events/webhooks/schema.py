"""The fields of subscriptions and of their last delivery (decisions, sections 2 and 6)."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from wmsd.base.machine.secret_files import standard_key
from wmsd.contract.fields import (
    Id,
    Input,
    Model,
    Name,
    Recorded,
    Sealed,
    Timestamp,
    choice_of,
    not_among,
    validation_error,
)
from wmsd.contract.list_queries import ChangesQuery, CursorQuery, PageQuery
from wmsd.events.outbox.events import EVENTS

EVERY_EVENT: Final = "*"
LONGEST_URL: Final = 2048
SHORTEST_SECRET: Final = 16
RECOMMENDED_SECRET: Final = 32
SHORT_SECRET: Final = f"The secret is short. Use at least {RECOMMENDED_SECRET} random characters."

AuthType = Literal["hmac", "bearer", "basic", "custom"]
DeliveryStatus = Literal["pending", "held", "delivered", "exhausted", "skipped"]
DELIVERY_STATUSES: Final = ("pending", "held", "delivered", "exhausted", "skipped")


def _event(name: str) -> str:
    if name != EVERY_EVENT and name not in EVENTS:
        raise not_among(name, ", ".join([EVERY_EVENT, *EVENTS]))
    return name


EventChoice = Annotated[str, AfterValidator(_event), choice_of("EventChoice", [EVERY_EVENT, *EVENTS])]


def each_once(names: list[str]) -> list[str]:
    if len(set(names)) != len(names):
        raise validation_error("must not list an event twice")
    if EVERY_EVENT in names and len(names) > 1:
        raise validation_error(f"must contain only {EVERY_EVENT}, or only event names")
    return names


def _visible(value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise validation_error("must be visible ASCII characters")
    return value


def _secret(value: str) -> str:
    try:
        standard_key(value)
    except ValueError as error:
        raise validation_error(str(error)) from None
    return value


def _user(value: str) -> str:
    if ":" in value:
        raise validation_error("must not contain a colon")
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
            description=(
                "The https address of the program that receives the events, without user name and "
                "password. For an address in a private network, a platform admin must first allow its "
                "network and port (settings webhooks.allow_networks and webhooks.allow_ports)."
            ),
        ),
    ]
    events: Annotated[
        list[EventChoice],
        Field(
            min_length=1,
            max_length=100,
            description="The events to send, or only `*` for all events.",
        ),
        AfterValidator(each_once),
    ]
    auth_type: Annotated[
        AuthType,
        Field(
            description=(
                "How the receiver recognizes requests of wmsd. hmac is the safest: wmsd signs each request. "
                "bearer sends a token, basic a user name and a password, custom your own headers."
            )
        ),
    ] = "hmac"
    active: Annotated[
        bool,
        Field(
            description=(
                "Switch off to pause the webhook. After the pause, wmsd sends the deliveries that "
                "waited before, but never events that happened during the pause."
            )
        ),
    ] = True
    secret: Annotated[
        Secret | None,
        Field(
            description=(
                "For hmac: the key for signatures. Use at least 32 random characters. wmsd "
                "never shows the key again."
            )
        ),
    ] = None
    token: Annotated[
        Credential | None,
        Field(
            description=(
                "For bearer: wmsd sends the token in the header `Authorization: Bearer …`, "
                "and never shows the token again."
            )
        ),
    ] = None
    username: Annotated[
        UserName | None, Field(description="For basic: the user name. It is never shown again.")
    ] = None
    password: Annotated[
        Credential | None, Field(description="For basic: the password. It is never shown again.")
    ] = None
    headers: Annotated[
        CustomHeaders | None,
        Field(description="For custom: the headers to send. wmsd never shows their values again."),
    ] = None


class SubscriptionChanges(SubscriptionFields, partial=True):
    """The fields to change; all other fields stay. A new secret replaces the old one immediately; see
    rotate-secret.
    """


class NewSecret(Input):
    secret: Annotated[
        Secret, Field(description="The new secret. For 24 hours wmsd signs with the old secret too.")
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
    """A webhook subscription. Its credentials are never returned."""

    READ_ONLY = Recorded.READ_ONLY | {
        *("has_secret", "previous_secret_expires_at", "failing_since", "switched_off_at"),
        *("switched_off_because", "credentials_missing_since", "last_delivery", "warnings"),
    }

    name: Name
    url: str
    events: list[EventChoice]
    auth_type: AuthType
    active: bool
    has_secret: Annotated[
        bool, Field(description="True if the subscription has the credentials that its auth_type needs.")
    ]
    credentials_missing_since: Annotated[
        Timestamp | None,
        Field(
            description="Since when wmsd cannot decrypt the credentials, for example after a restore "
            "without the keys. The deliveries wait, and use up no attempts, until you set the "
            "credentials again."
        ),
    ]
    previous_secret_expires_at: Annotated[
        Timestamp | None, Field(description="Until when wmsd signs with the previous secret too.")
    ]
    failing_since: Annotated[
        Timestamp | None,
        Field(description="The first failure since the last success; null if no attempt has failed since."),
    ]
    switched_off_at: Annotated[
        Timestamp | None,
        Field(description="When wmsd switched the subscription off; `active: true` switches it on again."),
    ]
    switched_off_because: str | None
    last_delivery: LastDelivery | None
    warnings: list[str]


class SubscriptionQuery(ChangesQuery, PageQuery):
    pass


class SubscriptionCursorQuery(ChangesQuery, CursorQuery):
    pass
