"""Operations: use cases, each declared once. Every interface is derived from these declarations.

A declaration is the signature of the action, plus everything that the signature cannot say. Examples are the
ability and module that the operation needs, the record that it returns, and the events that it may cause. The
access check, the decoding of the request, the OpenAPI entry and the reference page follow from the declaration.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.contract.access import ABILITIES, MODULES, Role
from wmsd.contract.context import Company
from wmsd.contract.field_errors import FieldError
from wmsd.contract.fields import Input, Recorded
from wmsd.contract.results import Record
from wmsd.contract.tags import TAGS

Scope = Literal["company", "platform", "installation", "kernel", "site"]
Limit = Literal["company", "user", "graphql", "sign-in", "open", "health", "none"]
Answer = Literal["record", "page", "cursor", "records", "nothing", "object"]
CONTEXT: Final = frozenset({"caller", "company", "site", "call", "database"})
NOT_IN_THE_PATH: Final = CONTEXT | {"query", "body", "position", "operator_id"}
MAX_BODY: Final = 1024 * 1024
References = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Iterable[FieldError]]
"""A function that finds errors in the references of a body. Its parameters are:
- The transaction.
- The body. Each malformed value is replaced by null (see `validation.well_formed`).
- A mapping with the parts of the path by name. The mapping also has the site, and under the key MALFORMED the
  paths of all malformed values.
"""
MALFORMED: Final = "malformed"


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    action: Callable[..., Any]
    summary: str
    description: str
    tag: str
    takes: frozenset[str]
    """The names of the action's parameters, except the first parameter."""
    path_types: dict[str, type]
    query: type[BaseModel] | None
    body: type[Input] | None
    returns: type[BaseModel] | None
    answer: Answer
    ability: str | None
    module: str | None
    scope: Scope
    role: Role | None
    limit: Limit
    signed_in: bool
    writes: bool
    creates: bool
    needs: type | None
    events: tuple[str, ...]
    codes: tuple[str, ...]
    ignores_query: bool
    also_shown_with: int | None
    prepared: bool
    takes_key: bool
    precondition: Callable[..., Record] | None
    references: References | None
    off_because: Callable[[Company], str | None] | None
    max_body: int
    enrols: bool
    about_token: bool
    audited: str | None
    history: str | None
    is_search: bool
    read_only: frozenset[str]


def operation(
    *,
    tag: str,
    answer: Answer,
    returns: type[BaseModel] | None = None,
    ability: str | None = None,
    module: str | None = "api",
    scope: Scope = "company",
    role: Role | None = None,
    limit: Limit | None = None,
    signed_in: bool = True,
    writes: bool = False,
    creates: bool = False,
    events: tuple[str, ...] = (),
    codes: tuple[str, ...] = (),
    ignores_query: bool = False,
    also_shown_with: int | None = None,
    prepared: bool = False,
    takes_key: bool = False,
    precondition: Callable[..., Record] | None = None,
    references: References | None = None,
    off_because: Callable[[Company], str | None] | None = None,
    max_body: int = MAX_BODY,
    enrols: bool = False,
    about_token: bool = False,
    audited: str | None = None,
    history: str | None = None,
    is_search: bool = False,
) -> Callable[[Callable[..., Any]], Operation]:
    """Declare the decorated function as an operation.

    A function that uses the file of a company must have no effect except its changes of this file and its answer:
    it may be interrupted, and run again from its beginning.

    Parameters of the function:
    - The first one is the transaction.
    - `query` and `body` are models, given by their types.
    - `position` is the position at which a cursor list continues.
    - `operator_id` comes from a header.
    - `call`, `caller`, `company` and `site` come from the dispatcher. `call` is the request, `caller` its sender,
      and `company` the company that it uses. `site` is the site of the bearer token. Only a site's token may use
      operations with the scope "site".
    - Every other parameter is a part of the path.

    Operations on the installation itself (scope "installation") are for signed-in users who have at least `role`.
    If an operation of a company has a `role`, it is also only for signed-in users with at least that role.

    An async function is a flow: it waits for something outside, and therefore opens its own units of work. Its
    first parameter is the service with everything that the flow needs; the flow may also take the company's
    `database`. A flow that `writes` returns its last unit of work. The dispatcher runs this unit, and stores the
    answer under its Idempotency-Key in the same transaction. Some flows need no token. Their `caller` is None if
    the request has no valid token.

    The first line of the docstring is the summary, the rest is the description. The other options:
    - `codes`: error codes in addition to those that follow from the other options.
    - `also_shown_with`: a second HTTP status that the answer may have.
    - `prepared`: the answer is the same for every caller.
    - `takes_key`: the operation itself does not write. It uses its Idempotency-Key for other operations that it
      runs.
    - `precondition`: reads the record before it is changed, to check If-Match. Its parameters are the parts of the
      path.
    - `references`: finds the errors in the references of a malformed body, so that all errors are reported
      together.
    - `off_because`: returns why a company that has the module cannot use the operation now, or None.
    - `max_body`: the largest body in bytes.
    - `enrols`: users who lack a required second factor may use the operation too.
    - `about_token`: the operation is about the token of the request, so that a session cannot use it.
    - `audited`: the name of the operation in the audit. Only the calls of people are audited; the calls of
      programs are recorded as events.
    - `history`: the table whose ids are the positions in a list of events. A cursor of an earlier epoch is
      refused.
    - `is_search`: a write that queries a full-text index. Such a query can only be interrupted from another
      thread, so the write never runs on the event loop.
    """
    assert tag in TAGS, tag
    assert ability is None or ability in ABILITIES, ability
    assert module is None or module in MODULES, module
    assert role is not None if scope == "installation" else role is None or scope == "company", role

    def declare(action: Callable[..., Any]) -> Operation:
        hints = get_type_hints(action, include_extras=True)
        names = list(inspect.signature(action).parameters)[1:]
        path_types = {name: _bare(hints[name]) for name in names if name not in NOT_IN_THE_PATH}
        body: type[Input] | None = hints.get("body")
        summary, _, description = inspect.cleandoc(action.__doc__ or action.__name__).partition("\n")
        return Operation(
            name=action.__name__,
            action=action,
            summary=summary.rstrip("."),
            description=description.strip(),
            tag=tag,
            takes=frozenset(names),
            path_types=path_types,
            query=hints.get("query"),
            body=body,
            returns=returns,
            answer=answer,
            ability=ability,
            module=module if scope in ("company", "site") else None,
            scope=scope,
            role=role,
            limit=limit or ("company" if scope in ("company", "site") else "user"),
            signed_in=signed_in,
            writes=writes,
            creates=creates,
            needs=_first(hints) if inspect.iscoroutinefunction(action) else None,
            events=events,
            codes=codes,
            ignores_query=ignores_query,
            also_shown_with=also_shown_with,
            prepared=prepared,
            takes_key=takes_key,
            precondition=precondition,
            references=references,
            off_because=off_because,
            max_body=max_body,
            enrols=enrols,
            about_token=about_token,
            audited=audited,
            history=history,
            is_search=is_search,
            read_only=_read_only(body, returns),
        )

    return declare


def _first(hints: dict[str, Any]) -> type:
    service: type = next(iter(hints.values()))
    return service


def _bare(hint: Any) -> type:
    bare: type = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return bare


def _read_only(body: type[BaseModel] | None, returns: type[BaseModel] | None) -> frozenset[str]:
    """Return the read-only fields of an answer that the body does not declare.

    A client may send back a record that it has received. So a body may contain these fields, and their values are
    ignored.
    """
    if body is None or returns is None or not issubclass(returns, Recorded):
        return frozenset()
    return returns.READ_ONLY - frozenset(body.model_fields)
