"""Labels: a form asks for the kind, the size and the number, and the browser prints the page that follows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wmsd.base.problems import or_not_found
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.interfaces.pages.paper.label_kinds import LABELS, Label, LabelKind
from wmsd.warehouse.papers.actions import get_papers

MOST_LABELS: Final = 1000
"""On one page."""


SIZES: Final[Mapping[str, int]] = {
    "label-sheet": 24,
    "label-a6": 1,
    "label-62x29": 1,
    "label-100x50": 1,
    "label-100x150": 1,
}
"""How many labels are on a sheet of each size. The names stand in addresses, and as classes in the stylesheet,
which has the measures.
"""


def _kinds_of(at: Workplace, resource: Resource) -> dict[str, LabelKind]:
    """What the person may print of a record, by name."""
    kinds = LABELS.get(resource.name, ())
    return {each.name: each for each in kinds if each.reads is None or at.may(each.reads)}


async def show(at: Workplace, request: web.Request) -> web.Response:
    """The form, or the labels that it asks for."""
    resource = at.resource(request.match_info["resource"])
    one = or_not_found(resource.one, "page")
    record = await at.need(one, path={"id": request.match_info["id"]})
    kinds = or_not_found(_kinds_of(at, resource) or None, "page")
    given = {name: request.query.get(name, "").strip() for name in ("kind", "size", "count")}
    if "size" not in request.query:
        papers = await at.need(get_papers, is_counted=True)
        return _form(at, resource, record, kinds, given | {"size": papers["label_size"] or ""}, {})
    errors = {}
    kind, per_sheet, count = kinds.get(given["kind"]), SIZES.get(given["size"]), _count_of(given["count"])
    if kind is None:
        errors["kind"] = _("Choose what to print.")
    if per_sheet is None:
        errors["size"] = _("Choose a size.")
    if given["count"] and count is None:
        errors["count"] = _("Type a whole number from 1 to %(most)s.") % {"most": words.figure(MOST_LABELS)}
    if kind is None or per_sheet is None or errors:
        return _form(at, resource, record, kinds, given, errors)
    labels = await kind.labels(at, resource, record)
    total = sum(count or each.copies for each in labels)
    if not total:
        return _form(at, resource, record, kinds, given, {"kind": _(kind.empty)})
    if total > MOST_LABELS:
        figures = {"total": words.figure(total), "most": words.figure(MOST_LABELS)}
        too_many = _("These would be %(total)s labels. At most %(most)s are printed at once: type how many.")
        return _form(at, resource, record, kinds, given, {"count": too_many % figures})
    each_one = list(_repeated(labels, count, kind.is_numbered))
    return page_of(
        at,
        "labels",
        resource.name,
        kind=kind,
        record=record,
        size=given["size"],
        back=request.path,
        sheets=[each_one[start : start + per_sheet] for start in range(0, total, per_sheet)],
        is_sheet=per_sheet > 1,
    )


def _count_of(typed: str) -> int | None:
    """The number of each label; None where it is none that can be printed."""
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= len(str(MOST_LABELS))
    return int(typed) if is_number and 1 <= int(typed) <= MOST_LABELS else None


def _repeated(labels: Sequence[Label], count: int | None, is_numbered: bool) -> Iterator[tuple[Label, str]]:
    """Each as often as it is printed, with its number of them all where they are numbered."""
    for label in labels:
        times = count or label.copies
        for number in range(1, times + 1):
            yield label, f"{number} / {times}" if is_numbered else ""


def _form(
    at: Workplace,
    resource: Resource,
    record: Mapping[str, Any],
    kinds: Mapping[str, LabelKind],
    given: Mapping[str, str],
    errors: Mapping[str, str],
) -> web.Response:
    return page_of(
        at,
        "label_form",
        resource.name,
        status=422 if errors else 200,
        resource=resource,
        record=record,
        kinds=kinds.values(),
        sizes=SIZES,
        given=given,
        errors=errors,
        most=MOST_LABELS,
    )
