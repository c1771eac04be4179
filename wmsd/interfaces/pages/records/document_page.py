"""The top of a document's page: how far the work is, and the actions that are possible now."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from wmsd.interfaces.pages.kit.acts import Act, Resource
from wmsd.interfaces.pages.kit.forms import IF_MATCH
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.references import Referred
from wmsd.interfaces.pages.kit.responses import form_keys
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import CompanyWorkplace, Workplace
from wmsd.interfaces.pages.paper.prints import PRINTS
from wmsd.warehouse.packaging.actions import walk_packaging_balances

HISTORY: Final = "status_history"
PARTNER: Final = "partner_id"
MEANWHILE: Final = "meanwhile"
"""The word in the address of the page if an action was not run, because another user had changed the document."""


class Step(NamedTuple):
    status: str
    state: Literal["done", "now", "to-come"]
    at: str | None
    """The time at which the document reached the status. None if the document has not had this status."""


class Offer(NamedTuple):
    """An action on the document. `reason` says why the person may not run the action, or is "" if the person may
    run it.

    `is_next` is True if the action is the next step of the work. `is_direct` is True if the button runs the action
    directly, without a form.
    """

    act: Act
    reason: str
    is_next: bool
    is_direct: bool


async def of_document(
    at: Workplace, resource: Resource, answer: Answer, referred: Referred, done: str
) -> dict[str, Any]:
    """Return the template's values that only documents need.

    `done` is the word for the last action, from the address of the page (see `Act.outcome`).
    """
    record = answer.body
    offers = await _offers(at, resource, record)
    undoing = next((act.undone_by for act in resource.acts if done and act.name == done), "")
    return {
        "offers": offers,
        "why_not": _why_not(offers),
        "steps": _steps(resource.path, record),
        "undo": next((each.act for each in offers if each.act.name == undoing and not each.reason), None),
        "partner": referred.get((PARTNER, record.get(PARTNER, 0))),
        "due": _due(resource, record, at),
        "is_changed": done == MEANWHILE,
        "left": sum(each.act.left(record) for each in offers),
        "papers": [
            *((f"prints/{each.name}", each.title) for each in PRINTS.get(resource.name, ())),
            ("labels", "Labels"),
        ],
        "hidden": {**form_keys(at), **({} if answer.etag is None else {IF_MATCH: answer.etag})},
    }


async def _offers(at: Workplace, resource: Resource, record: Mapping[str, Any]) -> list[Offer]:
    """Return the actions on the document, with the next step of the work at the end."""
    asks_for_packaging = await _has_packaging(at, record)
    offers = [
        Offer(
            act,
            _objection(at, act),
            record["status"] in act.next_in and act.next_if(record),
            act.is_direct and not (act.takes_packaging and asks_for_packaging),
        )
        for act in resource.acts
        if not act.makes_one and act.fits(record)
    ]
    return sorted(offers, key=lambda each: each.is_next)


def _why_not(offers: Iterable[Offer]) -> str:
    """Return a text that says why the person may not run some actions.

    Actions with the same reason are named together.
    """
    acts: dict[str, list[str]] = {}
    for each in offers:
        if each.reason:
            acts.setdefault(each.reason, []).append(_(each.act.text))
    return " ".join(f"{', '.join(names)}: {reason}" for reason, names in acts.items())


def _objection(at: Workplace, act: Act) -> str:
    objection = at.permissions.objection(act.operation)
    if objection is not None:
        return translate_error(objection)
    is_frozen = isinstance(at, CompanyWorkplace) and at.frozen_at is not None
    return _("The company is being moved. Changes are refused until the move ends.") if is_frozen else ""


async def _has_packaging(at: Workplace, record: Mapping[str, Any]) -> bool:
    """Return True if the company has a balance of returnable packaging with the document's partner. There is a
    balance from the first movement on.

    Return False if the person may not read the balances.
    """
    if record.get(PARTNER) is None or not at.may(walk_packaging_balances):
        return False
    query = {PARTNER: str(record[PARTNER]), "per_page": "1"}
    return bool((await at.need(walk_packaging_balances, query=query, is_counted=True))["data"])


def _steps(path: Sequence[str], record: Mapping[str, Any]) -> list[Step]:
    """Return the steps of the work. `path` is the normal sequence of statuses.

    If the present status is not in `path`, return the statuses that the document has had, and then the present
    status.
    """
    reached = {each["status"]: each["at"] for each in record[HISTORY]}
    now = record["status"]
    if now not in path:
        return [
            *(Step(each, "done", reached[each]) for each in path if each in reached),
            Step(now, "now", reached[now]),
        ]
    place = path.index(now)
    return [
        Step(status, "done" if number < place else "now", reached.get(status))
        if number <= place
        else Step(status, "to-come", None)
        for number, status in enumerate(path)
    ]


def _due(resource: Resource, record: Mapping[str, Any], at: Workplace) -> Mapping[str, Any] | None:
    """Return the due date of the document as `date`. `is_late` is True if this date has passed.

    Return None if the work on the document is finished, or if the document has no due date.
    """
    if resource.due is None or record["status"] not in resource.due.statuses or not record[resource.due.field]:
        return None
    date = record[resource.due.field]
    return {"date": date, "is_late": date < at.today}
