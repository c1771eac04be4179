"""The fields of a site."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.contract.fields import Code, Id, Input, Model, Name, Recorded, Timestamp
from wmsd.contract.list_queries import Query


class NewSite(Input):
    name: Annotated[
        Name,
        Field(description="The name of the site. Movements and changes by the site's program show this name."),
    ]


class SitePlace(Input):
    company_code: Annotated[Code, Field(description="The code of the company.")]
    warehouse_code: Annotated[Code, Field(description="The code of one of the company's warehouses.")]


class SiteToMake(NewSite, SitePlace):
    """The fields to create a site, in this order: the company, the warehouse, and the name of the site."""


class SiteRecord(Recorded):
    """A site in the view of admins. Its bearer token is shown only once, when it is created."""

    name: str
    company_code: str
    warehouse_code: str
    status: Literal["active", "revoked"]
    previous_token_until: Timestamp | None
    """The time until which the previous bearer token is still accepted, or null."""
    last_used_at: Timestamp | None
    last_used_from: str | None


class SiteFilters(Query):
    company_code: Annotated[str, Field(max_length=64)] | None = None
    warehouse_code: Annotated[str, Field(max_length=64)] | None = None
    status: Literal["active", "revoked"] | None = None


class MadeBearer(Model):
    """The new bearer token of a site. The token is shown only once."""

    id: Id
    name: str
    company_code: str
    warehouse_code: str
    token: str
    modules_off: list[str]
    """The needed modules that are off for the company. While one of them is off, the token gives no access."""
