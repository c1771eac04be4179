"""The fields of test receivers, and of the requests that they have received."""

from typing import Annotated

from pydantic import AfterValidator, Field

from wmsd.contract.fields import Id, Input, Model, Name, Timestamp
from wmsd.events.webhooks.receiver_rules import Answers
from wmsd.events.webhooks.schema import EventChoice, each_once


class NewReceiver(Input):
    name: Name = "Test receiver"
    events: Annotated[
        list[EventChoice],
        Field(
            min_length=1,
            max_length=100,
            description="The events to send, or only * for all events.",
        ),
        AfterValidator(each_once),
    ] = ["*"]
    answers: Annotated[
        Answers,
        Field(
            description=(
                "What the test receiver answers. success: the HTTP status 200. failure: 500, so wmsd "
                "tries each delivery five times. gone: 410, so wmsd switches the webhook off. late: 200 "
                "after 5 seconds. You can change the answer at any time."
            )
        ),
    ] = "success"


class ReceiverAnswer(Input):
    answers: Answers


class Received(Model):
    """A request that a test receiver has received. `age` is the number of seconds from its `webhook-timestamp` to
    its arrival.
    """

    id: Id
    delivery_id: Id
    at: Timestamp
    event: str
    event_id: str
    attempt: int
    sequence: int
    entity: str | None
    entity_id: Id | None
    body_bytes: int
    age: int
    has_valid_signature: bool
    is_repeated: Annotated[bool, Field(description="True if the same event had arrived before.")]
    is_overtaken: Annotated[
        bool, Field(description="True if a later event of the same record had arrived before.")
    ]
    answered: Answers


class Receiver(Model):
    """A test receiver with the requests that it has received, the newest first."""

    id: Id
    name: str
    events: list[str]
    active: bool
    switched_off_because: str | None
    off_because: Annotated[
        str | None, Field(description="Why the company sends no webhooks now; null if it sends them.")
    ]
    answers: Answers
    ends_at: Timestamp
    secret: Annotated[str | None, Field(description="The secret; null if another installation encrypted it.")]
    previous_secret_expires_at: Timestamp | None
    next_due_at: Annotated[Timestamp | None, Field(description="When the next delivery is due.")]
    waiting: Annotated[int, Field(description="The number of deliveries that wmsd has yet to send.")]
    received: list[Received]


class ReceivedDetail(Received):
    """A received request with all its stored data. The body is cut after 64 kB."""

    secret: Annotated[
        str | None, Field(description="The current secret, if this request was signed with it; otherwise null.")
    ]
    headers: dict[str, str]
    body: str
    is_cut: bool
