"""Pages for labels: a form asks for kind, size and number, and the browser prints the next page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import or_not_found
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text import words, zone
from wmsd.interfaces.pages.kit.text.language import translate_count
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.paper.label_kinds import (
    FOUND_BY,
    LABELS,
    MOST_LABELS,
    Label,
    LabelKind,
    TooMany,
)
from wmsd.warehouse.papers.actions import get_papers

MOST_RECORDS: Final = 50
"""The maximum number of records of a list that a person can tick to print their labels."""
LONGEST_ID: Final = 15
RECORD: Final = "record."
"""The beginning of the name of a checkbox. The id of the record follows."""


SIZES: Final[Mapping[str, int]] = {
    "label-sheet": 24,
    "label-a6": 1,
    "label-62x29": 1,
    "label-100x50": 1,
    "label-100x150": 1,
}
"""The number of labels on one sheet, by the size of the label.

Addresses contain the names of the sizes. The stylesheet has a class with the measurements for each name.
"""


def _kinds_of(at: Workplace, resource: Resource) -> dict[str, LabelKind]:
    """Return the kinds of labels that the person may print for a record, by their names."""
    kinds = LABELS.get(resource.name, ())
    return {each.name: each for each in kinds if each.reads is None or at.may(each.reads)}


@dataclass(frozen=True, slots=True)
class Labelled:
    """The records whose labels are printed: one record, or several records of a list."""

    resource: Resource
    records: Sequence[Mapping[str, Any]]
    name: str
    """The name of the record for people, or the number of records."""
    address: str
    """The address of the record or of the list."""
    ids: str = ""
    """The ids of several records, separated by commas."""


async def show(at: Workplace, request: web.Request) -> web.Response:
    """Show the form for the labels of a record. If the form was sent, show the labels."""
    resource = at.resource(request.match_info["resource"])
    record_id = request.match_info["id"]
    if (find := FOUND_BY.get(resource.name)) is not None:
        found = (await at.need(find, query={"ids": record_id}))["data"]
        record = or_not_found(next(iter(found), None), "page")
    else:
        record = await at.need(or_not_found(resource.one, "page"), path={"id": record_id})
    name, address = resource.name_of(record), f"{at.address}/{resource.name}/{record_id}"
    return await _show(at, request, Labelled(resource, [record], name, address))


async def choose(at: Workplace, request: web.Request) -> web.Response:
    """Redirect to the form for the labels of the records that a person has ticked in a list."""
    resource = at.resource(request.match_info["resource"])
    sent = await browsers.form(at.person.browser)
    at.check(resource.listing)
    or_not_found(FOUND_BY.get(resource.name), "page")
    ids = [name.removeprefix(RECORD) for name in sent if name.startswith(RECORD)]
    return go_to(f"{at.address}/{resource.name}/labels?ids={','.join(each for each in ids if each.isdecimal())}")


async def show_several(at: Workplace, request: web.Request) -> web.Response:
    """Show the form for the labels of several records. If the form was sent, show the labels."""
    resource = at.resource(request.match_info["resource"])
    at.check(resource.listing)
    find, address = or_not_found(FOUND_BY.get(resource.name), "page"), f"{at.address}/{resource.name}"
    given = request.query.get("ids", "").split(",")
    ids = list(dict.fromkeys(each for each in given if each.isdecimal() and len(each) <= LONGEST_ID))
    if not ids or len(ids) > MOST_RECORDS:
        return go_to(address)
    found = {str(each["id"]): each for each in (await at.need(find, query={"ids": ",".join(ids)}))["data"]}
    records = [found[each] for each in ids if each in found]
    if not records:
        return go_to(address)
    name = translate_count("%(num)s record", "%(num)s records", len(records)) % {"num": len(records)}
    return await _show(at, request, Labelled(resource, records, name, address, ",".join(ids)))


async def _show(at: Workplace, request: web.Request, of: Labelled) -> web.Response:
    zone.use(at.zone)  # the company's time zone, because a label goes with the goods
    kinds = or_not_found(_kinds_of(at, of.resource) or None, "page")
    given = {name: request.query.get(name, "").strip() for name in ("kind", "size", "count")}
    if "size" not in request.query:
        papers = await at.need(get_papers, is_counted=True)
        return _form(at, of, kinds, given | {"size": papers["label_size"] or ""}, {})
    errors = {}
    kind, per_sheet, count = kinds.get(given["kind"]), SIZES.get(given["size"]), _count_of(given["count"])
    if kind is None:
        errors["kind"] = _("Choose what to print.")
    if per_sheet is None:
        errors["size"] = _("Choose a size.")
    if given["count"] and count is None:
        errors["count"] = _("Type a whole number from 1 to %(most)s.") % {
            "most": words.grouped_number(MOST_LABELS)
        }
    if kind is None or per_sheet is None or errors:
        return _form(at, of, kinds, given, errors)
    try:
        labels = await _labels(at, of, kind, count)
    except TooMany as error:
        figures = {"total": words.grouped_number(error.total), "most": words.grouped_number(MOST_LABELS)}
        too_many = _("These settings give %(total)s labels, but the limit is %(most)s. Type a smaller number.")
        return _form(at, of, kinds, given, {"count": too_many % figures})
    if not labels:
        return _form(at, of, kinds, given, {"kind": _(kind.empty)})
    total = sum(count or each.copies for each in labels)
    each_one = list(_repeated(labels, count, kind.is_numbered))
    return page_of(
        at,
        "labels",
        of.resource.name,
        kind=kind,
        size=given["size"],
        back=f"{request.path}?ids={of.ids}" if of.ids else request.path,
        sheets=[each_one[start : start + per_sheet] for start in range(0, total, per_sheet)],
        is_sheet=per_sheet > 1,
    )


async def _labels(at: Workplace, of: Labelled, kind: LabelKind, count: int | None) -> list[Label]:
    """Return the labels of all records, without their copies.

    Raise TooMany if the copies do not fit on a page. `count` is the number of copies of each label. If it is None,
    each label says how many copies it needs.
    """
    labels: list[Label] = []
    for record in of.records:
        labels += await kind.labels(at, of.resource, record)
        if (total := sum(count or each.copies for each in labels)) > MOST_LABELS:
            raise TooMany(total)
    return labels


def _count_of(typed: str) -> int | None:
    """Return the typed number of copies. Return None if the text is no number, or if a page cannot have so many
    labels.
    """
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= len(str(MOST_LABELS))
    return int(typed) if is_number and 1 <= int(typed) <= MOST_LABELS else None


def _repeated(labels: Sequence[Label], count: int | None, is_numbered: bool) -> Iterator[tuple[Label, str]]:
    """Yield each label once for each of its copies, and a number such as `1 / 3` if `is_numbered` is True."""
    for label in labels:
        times = count or label.copies
        for number in range(1, times + 1):
            yield label, f"{number} / {times}" if is_numbered else ""


def _form(
    at: Workplace,
    of: Labelled,
    kinds: Mapping[str, LabelKind],
    given: Mapping[str, str],
    errors: Mapping[str, str],
) -> web.Response:
    return page_of(
        at,
        "label_form",
        of.resource.name,
        status=422 if errors else 200,
        of=of,
        kinds=kinds.values(),
        sizes=SIZES,
        given=given,
        errors=errors,
        most=MOST_LABELS,
    )
