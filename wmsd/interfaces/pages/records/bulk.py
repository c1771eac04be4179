"""One action for many records of a list: the ticked records, or all records that match the filters.

The records are processed in groups. The form names the records of the next groups, so the server stores nothing.
Each record is a separate request. If a request fails, the page shows the reason, and the other records are still
processed.
"""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem, or_not_found
from wmsd.contract.validation import validate_model
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit import filters
from wmsd.interfaces.pages.kit.acts import Act, Resource
from wmsd.interfaces.pages.kit.form_fields import FormField, Typed, form_of
from wmsd.interfaces.pages.kit.forms import defaults, document_of, errors_by_field, typed_in
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.rendering import go_to
from wmsd.interfaces.pages.kit.responses import KEY, form_keys, page_of
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace

AT_ONCE: Final = 50
"""The number of records in a group."""
MOST: Final = 500
ACT, ALL, GO = "act", "all", "go"
"""The form fields for the action, for the choice of all matching records, and for the confirmation.

Without the field for the confirmation, the page asks the person to confirm the action.
"""
RECORD: Final = "record."
"""The first part of the name of a field for a record. The second part is the record's id.

The value of the field is the record's name for people.
"""
FAILED: Final = "failed."
REASON: Final = "because."
DONE: Final = "done"


@dataclass(slots=True)
class Progress:
    """The progress of an action on many records.

    `left` has the records that are not processed yet, and `failed` the records that failed. Both map ids to names.
    `reasons` has the reason of each failure, by id. `done` is the number of records that were processed without
    failure.
    """

    left: dict[str, str]
    failed: dict[str, str]
    reasons: dict[str, str]
    done: int = 0

    @property
    def total(self) -> int:
        return self.done + len(self.failed) + len(self.left)

    @property
    def hidden(self) -> dict[str, str]:
        """The fields of the form that continues the action."""
        named = ((RECORD, self.left), (FAILED, self.failed), (REASON, self.reasons))
        fields = {f"{begin}{record}": text for begin, texts in named for record, text in texts.items()}
        return {**fields, DONE: str(self.done)}


async def do(at: Workplace, request: web.Request) -> web.Response:
    resource = at.resource(request.match_info["resource"])
    sent = await browsers.form(at.person.browser, bounds=browsers.WITH_ROWS)
    named = (act for act in resource.acts if act.takes_many and act.name == sent.get(ACT))
    act = or_not_found(next(named, None), "page")
    at.check(act.operation)
    fields, progress = _fields(act), _progress(sent)
    is_asked = GO not in sent
    message = await _find_matching(at, resource, act, request, progress) if is_asked and ALL in sent else ""
    message = message or _objection(progress)
    if act.leads_to and not message:
        return go_to(f"{at.address}/{act.leads_to.format(id=','.join(progress.left))}")
    if is_asked or message:
        return _page(at, resource, act, progress, form_keys(at), defaults(fields), message)
    typed = typed_in(fields, sent)
    document, errors = await _document(at, act, fields, typed)
    hidden = {**form_keys(at), KEY: sent.get(KEY, "")}
    if errors:
        return _page(at, resource, act, progress, hidden, typed, _("Correct the marked fields."), errors)
    await _do_some(at, act, document, sent.get(KEY, ""), progress)
    return _page(at, resource, act, progress, hidden, typed, is_begun=True)


def _fields(act: Act) -> tuple[FormField, ...]:
    """Return the fields of the form. Their values apply to all chosen records."""
    fields = (each for each in form_of(act.operation.body, act.without) if each.asks != "rows")
    return tuple(each for each in fields if not act.leading or each.name in act.leading)


async def _document(
    at: Workplace, act: Act, fields: tuple[FormField, ...], typed: Typed
) -> tuple[dict[str, object], Mapping[str, list[str]]]:
    """Return the body that is sent for each record, and the errors of this body."""
    assert act.operation.body is not None
    document, errors = await document_of(at, fields, typed, is_change=False)
    document |= act.fixed
    try:
        validate_model(act.operation.body, document)
    except Problem as problem:
        errors = {**errors_by_field(fields, typed, problem.errors)[0], **errors}
    return document, errors


def _progress(sent: Mapping[str, str]) -> Progress:
    """Return the progress that the form contains."""
    done = sent.get(DONE, "")
    return Progress(
        _by_record(sent, RECORD),
        _by_record(sent, FAILED),
        _by_record(sent, REASON),
        int(done) if done.isdecimal() and len(done) <= len(str(MOST)) else 0,
    )


def _by_record(sent: Mapping[str, str], begin: str) -> dict[str, str]:
    fields = ((name.removeprefix(begin), text) for name, text in sent.items() if name.startswith(begin))
    return {record: text for record, text in fields if record.isdecimal()}


def _objection(progress: Progress) -> str:
    if not progress.left:
        return _("No records are selected. Select records in the list first.")
    if progress.total > MOST:
        text = _("%(number)s records are selected, but the limit is %(most)s. Narrow the list with its filters.")
        return text % {"number": progress.total, "most": MOST}
    return ""


async def _find_matching(
    at: Workplace, resource: Resource, act: Act, request: web.Request, progress: Progress
) -> str:
    """Choose all records that match the filters and on which the action can run. Add them to `progress`.

    Return "", or a sentence that says why they cannot be chosen.
    """
    asked = await filters.read(at, resource, request.query)
    if asked.errors:
        return translate_error("Correct the filters of the list first.")
    walked = resource.walking.query
    assert walked is not None
    known = {name: value for name, value in asked.query.items() if name in walked.model_fields}
    found = await at.need(
        resource.walking,
        query={**known, "per_page": str(MOST)},
        is_counted=True,
        is_brief=True,
        is_long=True,
        within=asked.within,
    )
    if asked.is_damaged:
        return _(
            "The search index was damaged, and wmsd is rebuilding it. Until then, searches miss many records. No "
            "record is lost."
        )
    if found["next_cursor"] is not None or asked.is_cut:
        return _("More than %(most)s records match. Narrow the list with its filters.") % {"most": MOST}
    fitting = (record for record in found["data"] if act.fits(record))
    progress.left = {str(record["id"]): resource.name_of(record) for record in fitting}
    return ""


async def _do_some(at: Workplace, act: Act, document: Mapping[str, Any], key: str, progress: Progress) -> None:
    """Run the action for the next group of records.

    `key` is the beginning of the idempotency keys of the requests. Stop early if the rate limit refuses a request.
    Records that are not processed yet stay in `progress.left`.
    """
    for place, record in enumerate(list(progress.left)[:AT_ONCE]):
        answer = await at.ask_once(
            act.operation, f"{key}.{record}", document=document, path={"id": record}, is_counted=place > 0
        )
        if answer.status == 429:
            return
        name = progress.left.pop(record)
        if answer.is_good:
            progress.done += 1
        else:
            progress.failed[record], progress.reasons[record] = name, _reason(answer)


def _reason(answer: Answer) -> str:
    _named, others = errors_by_field((), {}, answer.body.get("errors") or {})
    return " ".join([translate_error(answer.body["message"]), *others])


def _page(
    at: Workplace,
    resource: Resource,
    act: Act,
    progress: Progress,
    hidden: Mapping[str, str],
    typed: Typed,
    message: str = "",
    errors: Mapping[str, list[str]] | None = None,
    is_begun: bool = False,
) -> web.Response:
    fields = _fields(act)
    return page_of(
        at,
        "bulk",
        resource.name,
        status=422 if message else 200,
        resource=resource,
        act=act,
        progress=progress,
        fields=fields,
        typed=typed,
        hidden={**hidden, **progress.hidden, ACT: act.name, GO: "1"},
        message=message,
        errors=errors or {},
        is_begun=is_begun,
        can_begin=not message or bool(errors),
        carried={each.name: typed[each.name] for each in fields if typed.get(each.name)},
        suggested={},
        focus="",
    )
