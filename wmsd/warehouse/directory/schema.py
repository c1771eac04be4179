"""Clients, partners and warehouses: their fields (decisions, section 2)."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.contract.fields import Code, Input, Name, OptionalEmail, OptionalLabel, OptionalText, Recorded
from wmsd.contract.list_queries import ChangesQuery, CursorQuery, PageQuery, Query, QueryFlag, SortedBy

PartnerType = Literal["CLIENT", "FURNIZOR", "TRANSPORTATOR"]


class Address(Input):
    street: OptionalText = None
    city: OptionalLabel = None
    postal_code: OptionalLabel = None
    country: OptionalLabel = None


class ContactFields(Input):
    code: Code
    name: Name
    tax_id: OptionalLabel = None
    email: OptionalEmail = None
    phone: OptionalLabel = None
    address: Address | None = None
    active: bool = True


class ClientFields(ContactFields):
    """A client: the owner of goods."""

    active: Annotated[bool, Field(description="Documents can also name an inactive client.")] = True


class PartnerFields(ContactFields):
    """A partner: receives, supplies or carries goods."""

    active: Annotated[bool, Field(description="New documents cannot name an inactive partner.")] = True
    type: PartnerType = "CLIENT"


class WarehouseFields(Input):
    code: Code
    name: Name
    address: Address | None = None
    active: Annotated[bool, Field(description="New documents cannot name an inactive warehouse.")] = True


class ClientChanges(ClientFields, partial=True):
    """The fields to change. Other fields keep their values."""


class PartnerChanges(PartnerFields, partial=True):
    """The fields to change. Other fields keep their values."""


class WarehouseChanges(WarehouseFields, partial=True):
    """The fields to change. Other fields keep their values."""


class Client(ClientFields, Recorded):
    """A client."""


class Partner(PartnerFields, Recorded):
    """A partner."""


class Warehouse(WarehouseFields, Recorded):
    """A warehouse."""


class OwnDirectoryFilters(Query):
    code: str | None = None
    active: QueryFlag | None = None


class OwnPartnerFilters(OwnDirectoryFilters):
    type: PartnerType | None = None


class DirectoryFilters(ChangesQuery, OwnDirectoryFilters):
    pass


class PartnerFilters(ChangesQuery, OwnPartnerFilters):
    pass


class DirectoryQuery(DirectoryFilters, PageQuery):
    sort: Annotated[str, SortedBy("id", "code")] = "id"


class PartnerQuery(PartnerFilters, PageQuery):
    sort: Annotated[str, SortedBy("id", "code")] = "id"


class DirectoryCursorQuery(DirectoryFilters, CursorQuery):
    pass


class PartnerCursorQuery(PartnerFilters, CursorQuery):
    pass
