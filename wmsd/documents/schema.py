"""The fields and filters that every kind of document has."""

from typing import Annotated

from pydantic import Field

from wmsd.base.fields import Code, OptionalLabel
from wmsd.base.listing import Moment, Query

OwnCode = Annotated[Code | None, Field(description="Unique in the company; by default the next of the series.")]
ExternalRef = Annotated[OptionalLabel, Field(description="The integrator's own number, unique in the company.")]


class SentBack:
    """Marks a field of a line that only answers have. It may be sent back, and is ignored."""


class DocumentFilters(Query):
    external_ref: str | None = None
    code: str | None = None
    updated_since: Annotated[Moment | None, Field(description="Only what was changed after it.")] = None
