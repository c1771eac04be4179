"""The fields of returnable packaging (decisions, section 2)."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.contract.fields import (
    Code,
    Id,
    Input,
    Name,
    OptionalLabel,
    OptionalText,
    Quantity,
    Recorded,
    SignedAmount,
    Timestamp,
)
from wmsd.contract.list_queries import ChangesQuery, CursorQuery, Moment, PageQuery, Query, QueryId, QueryTimestamp

Direction = Literal["IN", "OUT"]


class PackagingTypeFields(Input):
    code: Code
    name: Name


class PackagingTypeChanges(PackagingTypeFields, partial=True):
    """The fields to change. Other fields keep their values."""


class PackagingType(PackagingTypeFields, Recorded):
    """A kind of returnable packaging, such as a pallet."""


class PackagingBalance(Recorded):
    """How much of a packaging type a partner owes the company, or the company owes the partner."""

    packaging_type_id: Id
    packaging_type_code: Code
    packaging_type_name: Name
    partner_id: Id
    quantity: Annotated[
        SignedAmount,
        Field(
            description="Above 0, the partner owes packaging to the company; below 0, the company owes "
            "packaging to the partner."
        ),
    ]


class PackagingMovement(Recorded):
    """Packaging that went out to a partner or came in from one."""

    code: Code
    packaging_type_id: Id
    packaging_type_code: Code
    partner_id: Id
    direction: Annotated[
        Direction, Field(description="OUT raises the balance that the partner owes, IN lowers this balance.")
    ]
    quantity: Quantity
    document_type: Annotated[
        OptionalLabel,
        Field(
            description="The kind of document that moved the packaging. Null if a user "
            "recorded the movement by hand."
        ),
    ]
    document_id: Id | None
    occurred_at: Timestamp
    notes: OptionalText


class PackagingMovementWithRecorder(PackagingMovement):
    """A packaging movement, with the user who recorded it.

    Only users of the company can see who recorded it.
    """

    actor: Name


class PackagingMovementRecorded(PackagingMovement):
    """The data of `packaging.movement_recorded`."""

    balance: Annotated[SignedAmount, Field(description="The new balance of this type and partner.")]


class PackagingMovementFields(Input):
    """A movement recorded by hand. Packaging type and partner are given by code."""

    code: Code | None = None
    packaging_type_code: Code
    partner_code: Code
    direction: Direction
    quantity: Quantity
    occurred_at: Annotated[Timestamp | None, Field(description="Leave empty if the packaging moves now.")] = None
    notes: OptionalText = None


class PackagingLine(Input):
    """Packaging that goes out or comes in with a document. The packaging type is given by id or by code."""

    packaging_type_id: Id | None = None
    packaging_type_code: Code | None = None
    quantity: Quantity


class PackagingTypeFilters(Query):
    code: Code | None = None


class PackagingTypeQuery(ChangesQuery, PackagingTypeFilters, CursorQuery):
    pass


class PackagingFilters(Query):
    partner_id: QueryId | None = None
    packaging_type_id: QueryId | None = None


class PackagingBalanceFilters(PackagingFilters):
    CHANGED_SINCE = "since"

    since: Annotated[
        Moment | None, Field(description="Only balances that changed at this date and time or later.")
    ] = None
    packaging_type_code: str | None = None
    """This filter is newer than the filters above. It must come after them, because generated clients pass
    parameters by position.
    """


class PackagingBalanceQuery(PackagingBalanceFilters, CursorQuery):
    pass


class PackagingBalancePageQuery(PackagingBalanceFilters, PageQuery):
    pass


class PackagingMovementFilters(PackagingFilters):
    since: Annotated[
        QueryTimestamp | None, Field(description="Only movements that occurred at this date and time or later.")
    ] = None
    packaging_type_code: str | None = None


class PackagingMovementQuery(PackagingMovementFilters, CursorQuery):
    pass


class PackagingMovementPageQuery(PackagingMovementFilters, PageQuery):
    pass
