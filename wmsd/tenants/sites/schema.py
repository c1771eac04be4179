"""A site's fields."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.contract.fields import Code, Id, Input, Model, Name, Recorded, Timestamp
from wmsd.contract.list_queries import Query


class NewSite(Input):
    name: Annotated[Name, Field(description="What people call it; ledgers show this name.")]


class SitePlace(Input):
    company_code: Annotated[Code, Field(description="The code of the company.")]
    warehouse_code: Annotated[Code, Field(description="The code of one of its warehouses.")]


class SiteToMake(NewSite, SitePlace):
    """The place comes first."""


class SiteRecord(Recorded):
    """A site as admins see it. Its bearer is shown only once, when it is made."""

    name: str
    company_code: str
    warehouse_code: str
    status: Literal["active", "revoked"]
    previous_token_until: Timestamp | None
    """Until when the bearer before works too."""
    last_used_at: Timestamp | None
    last_used_from: str | None


class SiteFilters(Query):
    company_code: Annotated[str, Field(max_length=64)] | None = None
    warehouse_code: Annotated[str, Field(max_length=64)] | None = None
    status: Literal["active", "revoked"] | None = None


class MadeBearer(Model):
    """The new bearer of a site. It is shown only this once."""

    id: Id
    name: str
    company_code: str
    warehouse_code: str
    token: str
    modules_off: list[str]
    """What keeps it from opening anything yet."""
