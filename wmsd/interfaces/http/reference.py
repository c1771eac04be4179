"""The API reference as Markdown, from the same declarations as OpenAPI."""

from collections.abc import Container, Iterable, Mapping

from wmsd.base.access import ABILITIES, MODULES, needed_ability
from wmsd.base.operation import Operation
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.base.route import Route
from wmsd.interfaces.http.problem_details import type_of
from wmsd.interfaces.openapi.problems import codes_of
from wmsd.outbox.events import EVENTS


def reference(routes: Iterable[Route], abilities: Mapping[str, str] = ABILITIES) -> str:
    """The reference of an installation with these abilities."""
    lines = [
        "# API reference",
        "",
        "Every operation of this installation. What they share, such as pages, cursors, errors and limits, is in",
        "[Using the API](/docs/using-the-api). For programs: [OpenAPI of version 1](/openapi.json) and",
        "[of version 2](/api/v2/openapi.json).",
        "",
    ]
    by_tag: dict[str, list[Route]] = {}
    for route in routes:
        by_tag.setdefault(route.operation.tag, []).append(route)
    for tag, tagged in by_tag.items():
        lines += [f"## {tag}", ""]
        for route in tagged:
            lines += _operation(route, abilities)
    lines += ["## Abilities", "", "| ability | allows to |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, what in {"*": "everything", **abilities}.items()]
    lines += ["", "## Modules", "", "| module | switches on |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, what in MODULES.items()]
    lines += ["", "## Events", "", "| event | tells |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, what in EVENTS.items()]
    lines += ["", "## Error codes", "", "| code | status |", "|---|---|"]
    lines += [f"| [`{code}`]({type_of(code)}) | {status} |" for code, status in STATUS_OF_CODE.items()]
    return "\n".join(lines) + "\n"


def _operation(route: Route, abilities: Container[str]) -> list[str]:
    declared = route.operation
    lines = [f"### `{route.method} {route.path}`", "", f"{declared.summary}. {declared.description}", ""]
    facts = [_needs(declared, abilities)]
    if route.deprecation is not None:
        facts.append(f"Deprecated: it works until {route.deprecation.until:%d %B %Y}.")
    if declared.query is not None:
        facts.append(f"Query: {_names(declared.query.model_fields)}.")
    if declared.body is not None:
        facts.append(f"Body: {_names(declared.body.model_fields)}.")
    if declared.returns is not None:
        many = {"page": "A page of", "cursor": "A cursor list of"}.get(declared.answer, "")
        facts.append(f"Answer: {many} {_names(declared.returns.model_fields)}.".replace("  ", " "))
    if declared.events:
        facts.append(f"Events: {_names(declared.events)}.")
    facts.append(f"Errors: {_names(codes_of(declared))}.")
    return [*lines, *(f"- {fact}" for fact in facts), ""]


def _needs(declared: Operation, abilities: Container[str]) -> str:
    if not declared.signed_in:
        return "Open: no token."
    if declared.scope == "platform":
        return "Needs a valid token."
    modules = dict.fromkeys(("api", declared.module or "api"))
    ability = needed_ability(declared.ability, abilities)
    return f"Needs the ability `{ability}` and the module{'s' * (len(modules) > 1)} {_names(modules)}."


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
