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
        Field(min_length=1, max_length=100, description="Names of events, or * alone for all of them."),
        AfterValidator(each_once),
    ] = ["*"]
    answers: Annotated[
        Answers,
        Field(
            description="success: 200. failure: 500, so that each delivery is tried five times. gone: 410, which "
            "switches the webhook off. late: 200 after 5 seconds. You can change it at any time."
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
    is_repeated: Annotated[bool, Field(description="Whether the same event had come before.")]
    is_overtaken: Annotated[bool, Field(description="Whether a later event of its record had come before.")]
    answered: Answers


class Receiver(Model):
    """A test receiver with the requests that it has received, the newest first."""

    id: Id
    name: str
    events: list[str]
    active: bool
    switched_off_because: str | None
    off_because: Annotated[str | None, Field(description="Why the company sends nothing now, if it does not.")]
    answers: Answers
    ends_at: Timestamp
    secret: Annotated[str | None, Field(description="None when another installation has sealed it.")]
    previous_secret_expires_at: Timestamp | None
    next_due_at: Annotated[Timestamp | None, Field(description="When the next delivery is due.")]
    waiting: Annotated[int, Field(description="Deliveries that are still to be sent.")]
    received: list[Received]


class ReceivedDetail(Received):
    """A received request with all its stored data. The body is cut after 64 kB."""

    secret: Annotated[str | None, Field(description="The present one, if it has signed this; otherwise null.")]
    headers: dict[str, str]
    body: str
    is_cut: bool
