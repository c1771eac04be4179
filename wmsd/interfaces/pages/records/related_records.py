"""The records of other resources that are of one record, such as the stock of an article."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.pages.kit.fields import Field
from wmsd.interfaces.pages.kit.references import Referred, find_references
from wmsd.interfaces.pages.kit.resources import BY_NAME, Resource
from wmsd.interfaces.pages.kit.workplace import Workplace

MOST: Final = 50


@dataclass(frozen=True, slots=True)
class Under:
    resource: Resource
    fields: Sequence[Field]
    """Those of its list, without the record itself."""
    records: Sequence[Mapping[str, Any]]
    referred: Referred
    address: str
    """That of the list of all of them."""
    has_more: bool
    total: int | None
    """None where a list does not count."""


async def records_under(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Under]:
    """What the person may read of them: the first of each resource."""
    others = [(BY_NAME[name], filtered) for name, filtered in resource.under]
    return [await _under(at, each, filtered, record["code"]) for each, filtered in others if at.may(each.listing)]


async def _under(at: Workplace, other: Resource, filtered: str, code: str) -> Under:
    query = {filtered: code, "per_page": str(MOST)}
    found = await at.need(other.listing, query=query, is_counted=True, is_brief=True)
    total = found.get("meta", {}).get("total")
    of_the_record = f"{filtered.removesuffix('_code')}_"
    fields = [field for field in other.listed if not field.name.startswith(of_the_record)]
    return Under(
        other,
        fields,
        found["data"],
        await find_references(at, fields, found["data"]),
        f"{at.address}/{other.name}?{urlencode({filtered: code})}",
        has_more=found["next_cursor"] is not None if total is None else total > MOST,
        total=total,
    )
