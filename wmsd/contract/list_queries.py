"""The query parameters that lists share (decisions, section 4). Their values arrive as texts."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema, no_info_before_validator_function

from wmsd.base import timestamps
from wmsd.contract.field_errors import invalid_field, problem_of
from wmsd.contract.fields import MAX_ID, Model, not_among, validation_error

_WHOLE_NUMBER = re.compile(r"[0-9]{1,15}")


def _whole_number(minimum: int, maximum: int) -> BeforeValidator:
    def check(value: object) -> int:
        if isinstance(value, int):
            return value
        if not isinstance(value, str) or not _WHOLE_NUMBER.fullmatch(value):
            raise validation_error("must be a whole number")
        if not minimum <= int(value) <= maximum:
            raise validation_error(f"must be from {minimum} to {maximum}")
        return int(value)

    return BeforeValidator(check)


def _number_schema(minimum: int, maximum: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": minimum, "maximum": maximum})


MAX_PAGE = 10**9
QueryId = Annotated[int, _whole_number(1, MAX_ID), _number_schema(1, MAX_ID)]
QueryPosition = Annotated[int, _whole_number(0, MAX_ID), _number_schema(0, MAX_ID)]
QueryDays = Annotated[int, _whole_number(1, 36_500), _number_schema(1, 36_500)]


def _datetime(value: object) -> datetime:
    try:
        # The unescaped "+" of an offset arrives as a blank. A blank has no other meaning here.
        return timestamps.from_text(str(value).replace(" ", "+"))
    except ValueError as error:
        raise validation_error(str(error)) from None


def _moment(value: object) -> int:
    return value if isinstance(value, int) else timestamps.microseconds(_datetime(value))


def _last_shown_at(value: object) -> int:
    return value if isinstance(value, int) else (_moment(value) // 1000 + 1) * 1000 - 1


Moment = Annotated[int, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
"""An ISO 8601 timestamp, converted to microseconds since 1970. Positions in the change sequence have this unit
too.
"""
ChangedAfter = Annotated[
    int, BeforeValidator(_last_shown_at), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""An ISO 8601 timestamp, converted to a position in the change sequence: the last position that has this time, to
the millisecond.
"""

QueryTimestamp = Annotated[
    str,
    BeforeValidator(lambda value: timestamps.to_text(_datetime(value))),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""An ISO 8601 timestamp, converted to the format of timestamps in records. In this format, an earlier time is also
the smaller text.
"""


def _true_or_false(value: object) -> bool:
    if value in ("true", "1", True):
        return True
    if value in ("false", "0", False):
        return False
    raise validation_error("must be true or false")


QueryFlag = Annotated[bool, BeforeValidator(_true_or_false), WithJsonSchema({"type": "boolean"})]


def several_of(names: Sequence[str]) -> BeforeValidator:
    """Return a validator for a text with one or more of the names, separated by commas.

    The validator returns a tuple with these names in the order of `names`.
    """

    def check(value: object) -> tuple[str, ...]:
        given = {name.strip() for name in str(value).split(",")} if isinstance(value, str) else set(value)  # type: ignore[call-overload]
        if given <= {""}:
            raise validation_error(f"must be one or more of {', '.join(names)}")
        unknown = sorted(given - set(names))
        if unknown:
            raise not_among(unknown[0], ", ".join(names))
        return tuple(name for name in names if name in given)

    return BeforeValidator(check)


NO_FILTERS = frozenset({"page", "per_page", "sort", "cursor", "fields", "detail"})


class Query(Model):
    model_config = ConfigDict(extra="forbid", frozen=True)

    CHANGED_SINCE: ClassVar[str] = "updated_since"
    """The parameter that requests the records that have changed since a time."""
    SINCE: ClassVar[frozenset[str]] = frozenset({CHANGED_SINCE, "since"})
    """The parameters that contain a start time. The answer leaves out the records or events before this time."""
    NEEDS: ClassVar[Mapping[str, str]] = {}
    """Parameters for which a caller needs a further ability, in addition to the ability of the operation."""
    BEGINS: ClassVar[frozenset[str]] = frozenset()
    """The parameters that say where a list starts. They are not filters: a client sends them only for the first
    page, and then only the cursor.
    """

    @classmethod
    def asks_for_changes(cls) -> bool:
        """Return True if the query can request the records that have changed since a time."""
        return cls.CHANGED_SINCE in cls.model_fields

    @property
    def is_search(self) -> bool:
        """True if the query searches a full-text index. Such a search takes longer if there are more matches."""
        return False

    def moment_of(self, name: str) -> str:
        """Return the time in the parameter `name`, in the form of record timestamps, or "" if it was not sent."""
        moment = getattr(self, name)
        return timestamps.from_microseconds(moment) if isinstance(moment, int) else moment or ""

    @classmethod
    def filter_names(cls) -> list[str]:
        """Return the names of all parameters that are filters.

        Leave out the parameters for paging, for the order, for the start and for the returned fields.
        """
        return [name for name in cls.model_fields if name not in NO_FILTERS | cls.BEGINS]

    def beginning(self) -> dict[str, object] | None:
        """Return the start time that the caller sent, as a dict with the name of its parameter as the key.

        Return an empty dict if the caller sent no start time. Return None if the list has no parameter for a start
        time.
        """
        if (names := self.BEGINS & self.SINCE) == frozenset():
            return None
        return {name: value for name in sorted(names) if (value := getattr(self, name)) is not None}

    def filters(self) -> dict[str, object]:
        """Return the filters that the caller sent."""
        return {
            name: value
            for name in self.model_fields_set - NO_FILTERS - self.BEGINS
            if (value := getattr(self, name)) is not None
        }


UpdatedSince = Annotated[
    ChangedAfter | None, Field(description="Only records whose `updated_at` is after this date and time.")
]


class ChangesQuery(Query):
    """The query of a list whose records have a position in the change sequence.

    If a query has several base classes, name this class first: then `updated_since` is its last parameter. Do not
    change this order, because generated clients pass parameters by position.
    """

    updated_since: UpdatedSince = None


class NoQuery(Query):
    """The query of a route without query parameters. If a request has parameters, the error names each of them."""


class SortedBy:
    """A validator for the sort order of a list. `names` are the fields by which the list can be sorted. A `-`
    before the name reverses the order.
    """

    def __init__(self, *names: str) -> None:
        self.orders = [order for name in names for order in (name, f"-{name}")]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "enum": self.orders, "description": "The sort order. A leading `-` reverses it."}

    def _check(self, value: object) -> object:
        if value not in self.orders:
            raise not_among(str(value), ", ".join(self.orders))
        return value


class PageQuery(Query):
    sort: Annotated[str, SortedBy("id")] = "id"
    page: Annotated[int, _whole_number(1, MAX_PAGE), _number_schema(1, MAX_PAGE)] = 1
    per_page: Annotated[int, _whole_number(1, 200), _number_schema(1, 200)] = 50

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.per_page

    def of_some(self, number: int) -> Self:
        """Return a copy of this query without filters, for one page of `number` records.

        The sort order and the returned fields stay the same. The caller must select the records by their ids.
        """
        return self.model_copy(update={**dict.fromkeys(self.filter_names()), "page": 1, "per_page": number})


ALWAYS_READ = 50
"""A page with at most this number of records can always be read. If it is too large for one answer, wmsd reads the
page in pieces (decisions, section 11).
"""


def refuse_large_page(query: PageQuery) -> None:
    """Raise Problem (422) if the query asks for more than `ALWAYS_READ` records per page.

    Call this function only for a page that is too large for one answer.
    """
    if query.per_page > ALWAYS_READ:
        error = (
            f"must be at most {ALWAYS_READ} for this list: a page of {query.per_page} records is too large for "
            "one answer. Begin again at page 1"
        )
        raise problem_of([invalid_field("per_page", error)])


MOST_IDS = 1000


def _ids(value: object) -> tuple[int, ...]:
    ids = value.split(",") if isinstance(value, str) else list(value)  # type: ignore[call-overload]
    if not 1 <= len(ids) <= MOST_IDS or not all(_WHOLE_NUMBER.fullmatch(str(each)) for each in ids):
        raise validation_error(f"must be 1 to {MOST_IDS} ids, separated by commas")
    return tuple(map(int, ids))


Ids = Annotated[tuple[Any, ...], BeforeValidator(_ids), WithJsonSchema({"type": "string"})]


class IdsQuery(Query):
    """The query for records by their ids. The answer has the records in no particular order. An id is ignored if
    no record has it.
    """

    ids: Ids


class CursorQuery(Query):
    cursor: Annotated[str, Field(max_length=200)] | None = None
    per_page: Annotated[int, _whole_number(1, 500), _number_schema(1, 500)] = 100
