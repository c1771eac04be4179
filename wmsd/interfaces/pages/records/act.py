"""Actions on records. Each action is an operation with a form for its body."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.contract.operation import Operation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.acts import Act, Resource
from wmsd.interfaces.pages.kit.browser import AGAIN, FORM_TOKEN, PLAIN, WITH_ROWS
from wmsd.interfaces.pages.kit.fields import with_content
from wmsd.interfaces.pages.kit.form_fields import BETWEEN, FormField, Typed, typed_of
from wmsd.interfaces.pages.kit.forms import (
    IF_MATCH,
    Difference,
    defaults,
    document_of,
    errors_by_field,
    form_differences,
    sendable_again,
    typed_in,
    with_own_errors,
)
from wmsd.interfaces.pages.kit.page_client import Answer, PageClient, Sent
from wmsd.interfaces.pages.kit.references import find_references
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import KEY, form_keys, page_of
from wmsd.interfaces.pages.kit.suggestions import only_choices, suggestions
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace, place_of
from wmsd.interfaces.pages.records.act_fields import (
    all_fields,
    fields_of,
    focus_of,
    in_order,
    offered_secret,
    row_count,
    without_offer,
)
from wmsd.interfaces.pages.records.document_beginnings import SOURCES, beginning_of, beginning_of_code, open_notes
from wmsd.interfaces.pages.records.document_page import MEANWHILE
from wmsd.interfaces.pages.records.line_notes import line_notes

LINES: Final = "lines"
MORE: Final = "more"
"""A button that asks for more empty rows. The button's value is the field with the rows."""
THEN: Final = "then"
"""A button that runs the action and then opens the form of the following action (see `Act.then`)."""
SEEN_AT: Final = "seen_at"
"""The hidden field with the time at which the form was shown."""
SET: Final = "set"
"""The button that ticks the abilities of a set in the form. Its value is the name of the set."""
MOST_ROWS_AT_ONCE: Final = 100
"""A form with more rows is rendered on a thread, so that other requests are not blocked."""
CHANGED_MEANWHILE: Final = (
    "Another user changed this record after you opened the form. Your changes are not saved: "
    "compare them below, and send the form again to save yours."
)
INVALID: Final = 422
KEY_REUSED: Final = "IDEMPOTENCY_KEY_REUSED"
"""The error code if the same form was sent before with other values."""
SAVED_BEFORE: Final = (
    "wmsd already saved this form with other values. To save what the form shows now, send it again."
)


async def show(at: Workplace, request: web.Request) -> web.Response:
    resource, act = _resource_and_act(at, request)
    seen = (
        {SEEN_AT: timestamps.to_text(at.door.now)} if act.tells_when_shown else {}
    )  # taken before the record is read, because the page does not show later movements
    record = await _record(at, resource, request)
    fields = fields_of(at, act, record)
    begins = await _begins(at, act, record, request)
    hidden = {**form_keys(at), **_condition(act, begins), **seen}
    if act.changes and begins is not None:
        typed = await _typed_of(at, resource, fields, begins)
        notes = _beside(act, record, typed)
        return await _form(at, resource, act, record, _emptied(act, typed), hidden, notes=notes)
    beginning = await beginning_of(at, resource, fields, request.query)
    only = await only_choices(at, fields) if act.makes_one else {}
    typed = {**defaults(fields), **only, **offered_secret(act), **beginning.typed}
    return await _form(at, resource, act, record, typed, hidden, notes=beginning.notes)


async def do(at: Workplace, request: web.Request) -> web.Response:
    resource, act = _resource_and_act(at, request)
    bounds = _bounds(all_fields(act, None))
    sent = await browsers.form(at.person.browser, bounds=bounds, may_be_again=True)
    record = await _record(at, resource, request)
    fields = fields_of(at, act, record)
    typed = typed_in(fields, sent)
    hidden = _goes_along(sent)
    if AGAIN in sent:
        return await _form(at, resource, act, record, {**typed, **offered_secret(act)}, hidden, is_again=True)
    if MORE in sent:
        return await _with_more_rows(at, resource, act, record, typed, hidden, sent[MORE])
    if SET in sent:
        typed |= act.ticked(sent[SET])
        return await _form(at, resource, act, record, typed, hidden)
    document, errors = await document_of(at, fields, without_offer(act, typed), act.changes)
    document = _with_moment(act, fields, {**document, **act.fixed}, sent.get(SEEN_AT, ""))
    going: Sent = {"document": document, IF_MATCH: sent.get(IF_MATCH) or None}
    if "id" in request.match_info:
        going["path"] = {"id": request.match_info["id"]}
    answer = await at.ask_once(act.operation, sent.get(KEY), **going)
    if errors:
        assert not answer.is_good
        found = answer.body.get("errors", {}) if answer.status == INVALID else {}
        answer = _wrong(with_own_errors(fields, typed, errors, found))
    if answer.is_good and act.goes_to == "once":
        return page_of(at, act.template, resource.name, resource=resource, made=answer.body)
    if answer.is_good and act.then is not None and THEN in sent:
        return go_to(f"{_after(at, resource, act, request, answer)}/{act.then[0]}")
    if answer.is_good:
        return go_to(f"{_after(at, resource, act, request, answer)}?done={act.outcome(answer.body)}")
    if answer.status == 412 and not fields:  # nothing was typed, so the person can look and decide again
        return go_to(f"{_after(at, resource, act, request, answer)}?done={MEANWHILE}")
    record = await _record(at, resource, request)
    theirs: list[Difference] = []
    is_saved = answer.body.get("code") == KEY_REUSED
    if is_saved:  # after the Back button, a form has its old key, which cannot save other values
        hidden = form_keys(at)
    if answer.status == 412 or is_saved:
        begins = await _begins(at, act, record, request)
        hidden |= _condition(act, begins)
        if act.changes and begins is not None and not is_saved:
            now = await _typed_of(at, resource, fields, begins)
            theirs = await form_differences(at, fields, now, typed)
    return await _form(at, resource, act, record, typed, hidden, answer, theirs)


async def typed_too_late(door: PageClient, request: web.Request) -> Mapping[str, str]:
    """Return the values of a form that was sent after its session had ended. Leave out secrets and tokens.

    If the session is unknown, return {} without reading the form. Raise Problem if the form is refused.
    """
    browser = door.browser(request)
    if await door.user_of(browser.secret) is None:
        return {}
    resource = place_of(request).resource(request.match_info["resource"])
    fields = all_fields(_act(resource, request), None)
    sent = await browsers.form(browser, bounds=_bounds(fields))
    typed = sendable_again(fields, sent)
    return {**typed, **_goes_along(sent)} if typed else {}


def _bounds(fields: Sequence[FormField]) -> browsers.Bounds:
    return WITH_ROWS if any(each.asks == "rows" for each in fields) else PLAIN


def _goes_along(sent: Mapping[str, str]) -> dict[str, str]:
    """Return the hidden values that the form contains when it is shown again: its idempotency key, the version of
    the record, and `seen_at`.
    """
    return {name: sent[name] for name in (KEY, IF_MATCH, SEEN_AT) if sent.get(name)}


def _with_moment(
    act: Act, fields: Sequence[FormField], document: dict[str, Any], moment: str
) -> dict[str, object]:
    """Add `moment`, the time at which the page was shown, to the body. If the body has rows, add it to each row
    instead.

    If the action does not need the time, return the body unchanged.
    """
    if not (act.tells_when_shown and moment):
        return document
    rows = [field.name for field in fields if field.asks == "rows" and field.name in document]
    if not rows:
        return {**document, SEEN_AT: moment}
    return {**document, **{name: [{**row, SEEN_AT: moment} for row in document[name]] for name in rows}}


def _emptied(act: Act, typed: Typed) -> Typed:
    if not act.begins_empty:
        return typed
    return {name: value for name, value in typed.items() if name.rpartition(BETWEEN)[2] not in act.begins_empty}


def _beside(act: Act, record: Answer | None, typed: Typed) -> dict[str, str]:
    """Return notes for the fields that are empty when the form opens. A note shows the stored value of a field."""
    lines = {} if record is None else record.body
    notes = {}
    for name, value in typed.items() if act.begins_empty else ():
        rows, _row, own = (*name.split(BETWEEN), "", "")[:3]
        if own in act.begins_empty:
            is_again = lines[rows][int(_row)].get("count_again")
            text = _("%(number)s, but goods have moved: count again") if is_again else _("%(number)s counted")
            notes[name] = text % {"number": value}
    return notes


async def _with_more_rows(
    at: Workplace,
    resource: Resource,
    act: Act,
    record: Answer | None,
    typed: Typed,
    hidden: Mapping[str, str],
    field: str,
) -> web.Response:
    """Show the form again, with more rows in the field `field`.

    The new rows are empty. But if people cannot add rows (see `FormField.takes_rows`), replace all rows by the
    rows for the document whose code was typed, such as a purchase order.
    """
    rows = next((each for each in fields_of(at, act, record) if each.name == field), None)
    if rows is None or rows.takes_rows or resource.name not in SOURCES:
        return await _form(at, resource, act, record, typed, hidden, more=field)
    try:
        beginning = await beginning_of_code(at, resource, typed)
    except ValueError as error:
        wrong = {SOURCES[resource.name].parameter: [str(error)]}
        return await _form(at, resource, act, record, typed, hidden, _wrong(wrong))
    kept = {name: value for name, value in typed.items() if not name.startswith(f"{field}{BETWEEN}")}
    return await _form(at, resource, act, record, {**kept, **beginning.typed}, hidden, notes=beginning.notes)


def _wrong(errors: Mapping[str, Sequence[str]]) -> Answer:
    """Return a refusal that shows `errors` in the form. Use this for errors that wmsd finds without running the
    operation.
    """
    return Answer(INVALID, {"message": _("Correct the marked fields."), "errors": errors})


async def _form(
    at: Workplace,
    resource: Resource,
    act: Act,
    record: Answer | None,
    typed: Typed,
    hidden: Mapping[str, str],
    refused: Answer | None = None,
    differences: Sequence[Difference] = (),
    more: str = "",
    notes: Mapping[str, str] | None = None,
    is_again: bool = False,
) -> web.Response:
    fields = fields_of(at, act, record)
    body = {} if refused is None else refused.body
    saved = _saved(at, resource, body)
    errors, others = errors_by_field(fields, typed, {} if saved else body.get("errors", {}))
    with_rows = [each for each in fields if each.asks == "rows"]
    if notes is None and act.makes_one and resource.name in SOURCES:
        notes = await open_notes(at, resource, typed)
    is_changed = refused is not None and refused.status == 412
    message = CHANGED_MEANWHILE if is_changed else SAVED_BEFORE if saved else ""
    row_counts = {each.name: row_count(each, typed, more) for each in with_rows}
    shown = partial(
        page_of,
        at,
        "form",
        resource.name,
        refused,
        resource=resource,
        act=act,
        record=None if record is None else record.body,
        fields=fields,
        has_required=any(each.is_required for each in fields),
        lacks_frozen=record is not None and bool(act.frozen(record.body.get("status"))),
        suggested=await suggestions(at, [*fields, *(inner for each in with_rows for inner in each.of)]),
        typed=typed,
        hidden={**hidden, FORM_TOKEN: at.person.browser.form_token},
        message=_(message) if message else translate_error(body.get("message", "")),
        saved=saved,
        errors=errors,
        others=others,
        differences=differences,
        above=await _above(at, resource, act, record),
        row_counts=row_counts,
        adds={each.name: each.takes_rows for each in with_rows},
        notes=_joined(await line_notes(at, fields, typed, row_counts), notes or {}),
        is_again=is_again,
        focus=focus_of(in_order(act, fields), typed, errors),
    )
    is_long = sum(row_counts.values()) > MOST_ROWS_AT_ONCE
    return await asyncio.to_thread(shown) if is_long else shown()


async def _above(at: Workplace, resource: Resource, act: Act, record: Answer | None) -> Mapping[str, Any] | None:
    """Return the lines of the document that the form shows above its button. Return None if the action shows no
    lines.

    The result has `lines`, `columns` (the fields to show) and `referred` (the records to which the lines refer).
    """
    if act.shows is None or record is None:
        return None
    names, is_shown = act.shows
    table = next(field for field in resource.fields.values() if field.name == LINES)
    lines = [line for line in record.body[LINES] if is_shown(line)]
    columns = with_content([field for name in names for field in table.of if field.name == name], lines)
    return {"columns": columns, "lines": lines, "referred": await find_references(at, columns, lines)}


def _joined(of_lines: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """Return all notes by the names of their fields. If both arguments have a note for a field, join the two
    notes.
    """
    if not others:
        return dict(of_lines)
    beside = {name: (others.get(name), of_lines.get(name)) for name in (*others, *of_lines)}
    return {name: ", ".join(filter(None, each)) for name, each in beside.items()}


def _saved(at: Workplace, resource: Resource, refusal: Mapping[str, Any]) -> str:
    """If this form was already sent before, return the address of the record that it has saved. If this record is
    not known, return the address of the list.

    Return "" if the form was not sent before.
    """
    if refusal.get("code") != KEY_REUSED:
        return ""
    record_id = refusal.get("details", {}).get("id")
    return f"{at.address}/{resource.name}{'' if record_id is None else f'/{record_id}'}"


def _resource_and_act(at: Workplace, request: web.Request) -> tuple[Resource, Act]:
    """Return the resource and the action in the address. Raise Problem (404, or 403 without permission)."""
    resource = at.resource(request.match_info["resource"])
    act = _act(resource, request)
    at.check(act.operation)
    return resource, act


def _act(resource: Resource, request: web.Request) -> Act:
    return resource.act(request.match_info["act"], makes_one="id" not in request.match_info)


async def _record(at: Workplace, resource: Resource, request: web.Request) -> Answer | None:
    """Return the record on which the action runs, or None if it creates a record. Raise Problem if it cannot be
    read.
    """
    if "id" not in request.match_info or resource.one is None:
        return None
    return await _read(at, resource.one, request)


async def _begins(at: Workplace, act: Act, record: Answer | None, request: web.Request) -> Answer | None:
    """Return the answer whose values the form shows at first: the answer of `act.reads`, or else `record`. Raise
    Problem if the values cannot be read.

    Return None if there is neither an operation `act.reads` nor a record.
    """
    return record if act.reads is None else await _read(at, act.reads, request)


async def _read(at: Workplace, operation: Operation, request: web.Request) -> Answer:
    """Run the operation for the id in the page's address. Return its answer. Raise Problem if it is refused."""
    answer = await at.ask(operation, path={"id": request.match_info["id"]}, is_counted=True)
    answer.needed()
    return answer


async def _typed_of(at: Workplace, resource: Resource, fields: tuple[FormField, ...], begins: Answer) -> Typed:
    shown = await find_references(at, resource.fields.values(), [begins.body])
    return typed_of(fields, begins.body, shown)


def _condition(act: Act, begins: Answer | None) -> dict[str, str]:
    """Return the hidden field with the version of the record that the form shows.

    Return {} if the operation does not check the version.
    """
    if begins is None or begins.etag is None or act.operation.precondition is None or act.merges:
        return {}
    return {IF_MATCH: begins.etag}


def _after(at: Workplace, resource: Resource, act: Act, request: web.Request, answer: Answer) -> str:
    """Return the address of the page that opens after the action."""
    of_list = f"{at.address}/{resource.name}"
    if act.goes_to == "list":
        return of_list
    of_record = f"{of_list}/{request.match_info.get('id') or answer.body['id']}"
    match act.goes_to:
        case "delivery":
            return f"{of_record}/deliveries/{answer.body['id']}"
        case "receiver":
            return f"{of_record}/receiver"
    return of_record
