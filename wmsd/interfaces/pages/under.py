"""The records of other resources that are of one record, such as the stock of an article."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.pages.fields import Field
from wmsd.interfaces.pages.referred import Referred, referred
from wmsd.interfaces.pages.resources import BY_NAME, REFERRED, Resource
from wmsd.interfaces.pages.workplace import Workplace

MOST: Final = 50


@dataclass(frozen=True, slots=True)
class Under:
    resource: Resource
    fields: Sequence[Field]
    """Those of its list, without the record itself."""
    records: Sequence[Mapping[str, Any]]
    referred: Referred
    total: int


async def records_under(at: Workplace, resource: Resource, record_id: int) -> list[Under]:
    """What the person may read of them: the first of each resource."""
    others = [BY_NAME[name] for name in resource.under if at.may(BY_NAME[name].listing)]
    return [await _under(at, resource, other, record_id) for other in others]


async def _under(at: Workplace, resource: Resource, other: Resource, record_id: int) -> Under:
    (id_field,) = (name for name, of_field in REFERRED.items() if of_field is resource)
    query = {id_field: str(record_id), "per_page": str(MOST)}
    found = await at.need(other.listing, query=query, is_counted=True)
    fields = [field for field in other.listed if field.name != id_field]
    return Under(other, fields, found["data"], await referred(at, fields, found["data"]), found["meta"]["total"])
