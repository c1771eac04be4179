"""The fields of a count (decisions, section 11; stock laws, section 7)."""

from typing import Annotated, Final

from pydantic import Field

from wmsd.contract.fields import (
    Amount,
    Code,
    EmptyIsNull,
    Id,
    Input,
    Model,
    Name,
    OptionalLabel,
    OptionalText,
    SentBack,
    SignedAmount,
    Timestamp,
)
from wmsd.warehouse.counts.rules import INITIAL, Status
from wmsd.warehouse.documents.schema import (
    STATUS_HISTORY,
    DocumentShown,
    ExternalRef,
    OfTheRequest,
    OwnCode,
    StatusReached,
)

MAX_LINES: Final = 1000
SENT_BACK: Final = Field(description="Read only. You may send it back unchanged.")


class CountLineFields(Input):
    """The goods to count, and the counted quantity.

    The id identifies a line. If no id is sent, article, lot and serial identify it. If the serial is in stock, you
    may omit its lot. Fields that are not sent keep their values. If you send the same quantity again, it is
    usually not a new count. It is a new count if the line must be counted again, or if you also send `seen_at`.
    """

    id: Annotated[
        Id | None,
        Field(
            description="The id of a line of this count. With any other id, article, lot and "
            "serial identify the line."
        ),
    ] = None
    article_id: Id | None = None
    article_code: Code | None = None
    lot_number: OptionalLabel = None
    serial: OptionalLabel = None
    expected_quantity: Annotated[Amount | None, SentBack, SENT_BACK] = None
    counted_quantity: Annotated[
        Amount | None, Field(description="The counted quantity. Null if the line is not counted yet.")
    ] = None
    counted_at: Annotated[
        Timestamp | None,
        Field(description="The time of the count by the counter's own clock. For information only."),
    ] = None
    seen_at: Annotated[
        Timestamp | None,
        OfTheRequest,
        Field(
            description="The date and time of the answer or page that the counter last saw. If goods moved "
            "since then, the line must be counted again. If omitted, the time at which the line "
            "was created or last entered."
        ),
    ] = None
    arrived_at: Annotated[Timestamp | None, SentBack, SENT_BACK] = None
    ledger_quantity: Annotated[Amount | None, SentBack, SENT_BACK] = None
    difference: Annotated[SignedAmount | None, SentBack, SENT_BACK] = None
    count_again: Annotated[bool | None, SentBack, SENT_BACK] = None
    booked_quantity: Annotated[SignedAmount | None, SentBack, SENT_BACK] = None


class CountHead(Input):
    """A count without its lines."""

    code: OwnCode = None
    status: Annotated[Status, Field(description="A new count begins as CREAT.")] = INITIAL
    warehouse_id: Annotated[
        Id, Field(description="The warehouse to count. You cannot change the warehouse later.")
    ]
    is_blind: Annotated[
        bool, Field(description="The expected quantity of a line is hidden until the line is counted.")
    ] = False
    external_ref: ExternalRef = None
    notes: OptionalText = None


class CountFields(CountHead):
    lines: Annotated[list[CountLineFields], Field(min_length=1, max_length=MAX_LINES)]


class NewCount(CountHead):
    """A new count. `lines` are the goods to count. If `lines` is not sent, everything in stock in the warehouse is
    counted.
    """

    lines: Annotated[
        list[CountLineFields] | None,
        Field(
            min_length=1,
            max_length=MAX_LINES,
            description="A line with only an article stands for all its lots and serials in stock. A line "
            "with only an article and a lot stands for all serials of the lot.",
        ),
    ] = None
    article_search: Annotated[
        Name | None,
        EmptyIsNull,
        Field(
            description=(
                "The count covers only articles in stock that have these words in the code, name or "
                "barcode. If you fill in this field, leave the lines empty. If both are empty, the "
                "count covers everything in stock in the warehouse."
            )
        ),
    ] = None


class CountChanges(CountFields, partial=True):
    """The fields to change. Fields that are not sent, and lines that are not sent, keep their values."""


class CountLine(Model):
    id: Id
    article_id: Id
    article_code: Code
    lot_number: OptionalLabel
    serial: OptionalLabel
    expected_quantity: Annotated[
        Amount | None,
        Field(
            description="The ledger quantity when the line was created. Null in a blind count until the "
            "line is counted."
        ),
    ]
    counted_quantity: Amount | None
    difference: Annotated[
        SignedAmount | None,
        Field(
            description="counted_quantity - ledger_quantity, which booking adds to stock. Null if one of "
            "them is null."
        ),
    ]
    count_again: Annotated[
        bool,
        Field(description="True if goods moved during the count. Such a line is not booked: count it again."),
    ]
    booked_quantity: Annotated[
        SignedAmount | None, Field(description="The booked quantity. Null if the line was not booked.")
    ]
    ledger_quantity: Annotated[
        Amount | None,
        Field(
            description="The ledger quantity when the counted quantity arrived. Null in a blind count "
            "until the line is counted."
        ),
    ]
    counted_at: Timestamp | None
    arrived_at: Annotated[Timestamp | None, Field(description="When wmsd received the counted quantity.")]


class CountStatusReached(StatusReached):
    status: Status


class Count(DocumentShown):
    """A count."""

    status: Status
    warehouse_id: Id
    is_blind: bool
    external_ref: OptionalLabel
    notes: OptionalText
    lines: list[CountLine]
    status_history: Annotated[list[CountStatusReached], STATUS_HISTORY]


class RecordCount(Input):
    """The count of one stock record, or of one of its lots or serials."""

    quantity: Annotated[Amount, Field(description="The counted quantity.")]
    lot_number: Annotated[OptionalLabel, Field(description="To count only one lot, enter its number.")] = None
    serial: Annotated[
        OptionalLabel, Field(description="To count only one unit, enter its serial. The quantity is then 1 or 0.")
    ] = None
    reason: Annotated[Name | None, EmptyIsNull] = None
    seen_at: Annotated[
        Timestamp | None, Field(description="The date and time of the page that the counter last saw.")
    ] = None
