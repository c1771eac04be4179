"""What people do with records: each act is an operation, with a form for its body."""

from collections.abc import Mapping, Sequence
from typing import Final

from wmsd.contract.operation import Operation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN
from wmsd.interfaces.pages.kit.forms import (
    Difference,
    FormField,
    Typed,
    defaults,
    document_of,
    errors_by_field,
    form_differences,
    form_of,
    typed_in,
    typed_of,
)
from wmsd.interfaces.pages.kit.page_client import Answer, Sent
from wmsd.interfaces.pages.kit.references import find_references
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.resources import Act, Resource
from wmsd.interfaces.pages.kit.responses import KEY, form_keys, page_of
from wmsd.interfaces.pages.kit.suggestions import suggestions
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace

IF_MATCH: Final = "if_match"
CHANGED_MEANWHILE: Final = (
    "Somebody has changed it since you opened this form. Nothing of yours is saved yet: see what is there now, "
    "and send the form again to save yours over it."
)


async def show(at: Workplace, request: web.Request) -> web.Response:
    resource, act = _resource_and_act(at, request)
    fields = form_of(act.operation.body)
    record = await _record(at, resource, request)
    begins = await _begins(at, act, record, request)
    typed = defaults(fields)
    if act.changes and begins is not None:
        typed = await _typed_of(at, resource, fields, begins)
    return await _form(at, resource, act, record, typed, {**form_keys(at), **_condition(act, begins)})


async def do(at: Workplace, request: web.Request) -> web.Response:
    resource, act = _resource_and_act(at, request)
    sent = await browsers.form(at.person.browser)
    body = act.operation.body
    typed = typed_in(form_of(body), sent)
    document, errors = ({}, {}) if body is None else await document_of(at, body, typed, act.changes)
    if errors:
        answer = Answer(422, {"message": _("Correct what is marked."), "errors": errors})
    else:
        going: Sent = {"document": document, IF_MATCH: sent.get(IF_MATCH) or None}
        if "id" in request.match_info:
            going["path"] = {"id": request.match_info["id"]}
        answer = await at.ask_once(act.operation, sent.get(KEY), **going)
    if answer.is_good and act.goes_to == "once":
        return page_of(at, act.template, resource.name, resource=resource, made=answer.body)
    if answer.is_good:
        return go_to(f"{_after(at, resource, act, request, answer)}?done={act.outcome(answer.body)}")
    record = await _record(at, resource, request)
    hidden = {name: sent[name] for name in (KEY, IF_MATCH) if sent.get(name)}
    theirs: list[Difference] = []
    if answer.status == 412:
        begins = await _begins(at, act, record, request)
        hidden |= _condition(act, begins)
        if act.changes and begins is not None and body is not None:
            now = await _typed_of(at, resource, form_of(body), begins)
            theirs = await form_differences(at, body, now, typed)
    return await _form(at, resource, act, record, typed, hidden, answer, theirs)


async def _form(
    at: Workplace,
    resource: Resource,
    act: Act,
    record: Answer | None,
    typed: Typed,
    hidden: Mapping[str, str],
    refused: Answer | None = None,
    differences: Sequence[Difference] = (),
) -> web.Response:
    fields = form_of(act.operation.body)
    body = {} if refused is None else refused.body
    errors, others = errors_by_field(fields, body.get("errors", {}))
    is_changed = refused is not None and refused.status == 412
    return page_of(
        at,
        "form",
        resource.name,
        refused,
        resource=resource,
        act=act,
        record=None if record is None else record.body,
        fields=fields,
        suggested=await suggestions(at, fields),
        typed=typed,
        hidden={**hidden, FORM_TOKEN: at.person.browser.form_token},
        message=_(CHANGED_MEANWHILE) if is_changed else translate_error(body.get("message", "")),
        errors=errors,
        others=others,
        differences=differences,
        focus=_focus(fields, errors),
    )


def _resource_and_act(at: Workplace, request: web.Request) -> tuple[Resource, Act]:
    """Those of the address. Raises Problem (403, 404)."""
    resource = at.resource(request.match_info["resource"])
    act = resource.act(request.match_info["act"], makes_one="id" not in request.match_info)
    at.check(act.operation)
    return resource, act


async def _record(at: Workplace, resource: Resource, request: web.Request) -> Answer | None:
    """The record that the act is about. Raises Problem when it cannot be read."""
    if "id" not in request.match_info or resource.one is None:
        return None
    return await _read(at, resource.one, request)


async def _begins(at: Workplace, act: Act, record: Answer | None, request: web.Request) -> Answer | None:
    """What the form begins with. Raises Problem when it cannot be read."""
    return record if act.reads is None else await _read(at, act.reads, request)


async def _read(at: Workplace, operation: Operation, request: web.Request) -> Answer:
    """Raises Problem when it cannot be read."""
    answer = await at.ask(operation, path={"id": request.match_info["id"]}, is_counted=True)
    answer.needed()
    return answer


async def _typed_of(at: Workplace, resource: Resource, fields: tuple[FormField, ...], begins: Answer) -> Typed:
    shown = await find_references(at, resource.fields.values(), [begins.body])
    return typed_of(fields, begins.body, shown)


def _condition(act: Act, begins: Answer | None) -> dict[str, str]:
    """The version that the form is about, where the operation looks at it."""
    if begins is None or begins.etag is None or act.operation.precondition is None:
        return {}
    return {IF_MATCH: begins.etag}


def _focus(fields: tuple[FormField, ...], errors: Mapping[str, object]) -> str:
    """The first field that is wrong, or the first of all."""
    names = [field.name for field in fields]
    return next((name for name in names if name in errors), names[0] if names else "")


def _after(at: Workplace, resource: Resource, act: Act, request: web.Request, answer: Answer) -> str:
    """The address that the act leads to."""
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
