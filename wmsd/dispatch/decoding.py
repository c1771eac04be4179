"""Decodes a request into the arguments of an action."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from wmsd.base.cursor import ANOTHER_BEGINNING, INSTALLATION, CursorSigner, began_with
from wmsd.base.problems import MOST_LISTED, FieldErrors, Problem, forbidden, invalid, not_found
from wmsd.contract.context import Company
from wmsd.contract.field_errors import FieldError, problem_of
from wmsd.contract.list_queries import CursorQuery, NoQuery
from wmsd.contract.operation import Operation
from wmsd.contract.tags import TAGS
from wmsd.contract.validation import validate_model
from wmsd.dispatch.call import Call, Loaded

ID: Final = re.compile(r"[1-9][0-9]{0,14}", re.ASCII)


def decode(call: Call, company: Company | None, loaded: Loaded | None, signer: CursorSigner) -> dict[str, Any]:
    """Return the action's arguments by name. Raise Problem with all errors in the query and the body."""
    operation = call.operation
    inputs = path_inputs(call)
    errors: FieldErrors = {}
    if operation.query is not None:
        inputs["query"] = _collect(errors, lambda: validate_model(operation.query or NoQuery, call.query))
    elif call.query and not operation.ignores_query:
        _collect(errors, lambda: validate_model(NoQuery, call.query))
    if operation.body is not None:
        model = operation.body
        document, text_errors = ({}, {}) if loaded is None else (loaded.document, loaded.text_errors)
        sent = settable(operation, document)
        inputs["body"] = _collect(errors, lambda: validate_model(model, sent, model.own_text_errors(text_errors)))
    if operation.answer == "cursor" and not errors:
        inputs["position"] = _collect(errors, lambda: _position(signer, call, inputs["query"], company))
    if "operator_id" in operation.takes:
        inputs["operator_id"] = _collect(errors, lambda: operator_id(call.operator))
    if errors:
        raise invalid(errors)
    return inputs


def path_inputs(call: Call) -> dict[str, Any]:
    """Return the parameters of the path by name. Raise Problem (404) if an id is malformed."""
    inputs: dict[str, Any] = {}
    for name, kind in call.operation.path_types.items():
        text = call.path[name]
        if kind is int and not ID.fullmatch(text):
            raise not_found(TAGS[call.operation.tag].noun)
        inputs[name] = kind(text)
    return inputs


def settable(operation: Operation, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body that are not read-only. Read-only fields are ignored, because a client may send
    back a record as it received it.
    """
    return {name: value for name, value in document.items() if name not in operation.read_only}


def _position(signer: CursorSigner, call: Call, query: CursorQuery, company: Company | None) -> int:
    """Return the position that the query's cursor contains, or 0 if there is no cursor. Raise Problem (422) if the
    cursor does not match the request.

    Also store two values of the cursor in `call`: its epoch, and the parameters with which its list began.
    """
    begins = query.beginning()
    if query.cursor is None:
        call.cursor_began = None if begins is None else began_with(begins)
        return 0
    company_id = INSTALLATION if company is None else company.id
    try:
        place = signer.place(query.cursor, company_id, call.operation.name, query.filters())
    except ValueError as error:
        raise invalid({"cursor": [str(error)]}) from None
    if begins and place.began not in (None, began_with(begins)):
        raise invalid({name: [ANOTHER_BEGINNING] for name in begins})
    call.cursor_epoch, call.cursor_began = place.epoch, place.began
    return place.position


def operator_id(text: str | None) -> int | None:
    """Return the id in the X-Three-Pl-Id header, or None if the header was not sent. Raise Problem (403) if the
    text is not an id.
    """
    if text is None:
        return None
    if not ID.fullmatch(text):
        raise forbidden("X-Three-Pl-Id is not the id of an operator.")
    return int(text)


def may_have_more(problem: Problem) -> bool:
    """Return True if wmsd should look for further errors, such as an unknown code. `problem` has the format errors
    that were already found.

    After a hundred errors, wmsd does not look for more.
    """
    return problem.code == "VALIDATION_FAILED" and sum(map(len, problem.errors.values())) < MOST_LISTED


def with_references(problem: Problem, found: Iterable[FieldError]) -> Problem:
    """Return a Problem with the format errors in `problem` and the reference errors in `found`. A reference error
    means that no record has the code or the id. If a field has a format error, its reference errors are left out.

    The code of the Problem is the code of its most important error.
    """
    of_form = [
        FieldError(problem.code, path, sentence)
        for path, sentences in problem.errors.items()
        for sentence in sentences
    ]
    return problem_of([*of_form, *(each for each in found if each.path not in problem.errors)])


def _collect(errors: FieldErrors, decode: Callable[[], Any]) -> Any:
    try:
        return decode()
    except Problem as problem:
        if problem.status != 422 or not problem.errors or not may_have_more(problem):
            raise
        for path, sentences in problem.errors.items():
            errors.setdefault(path, []).extend(sentences)
        return None
