"""The assembly of an OpenAPI description from its parts."""

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

from wmsd.contract.access import ABILITIES, EVERYTHING, needed_ability
from wmsd.contract.history_cuts import HistoryCut
from wmsd.contract.operation import Operation
from wmsd.contract.route import Route
from wmsd.contract.tags import TAGS
from wmsd.interfaces.openapi import error_responses, headers, webhook_events
from wmsd.interfaces.openapi.answers import PAGE_META, successes
from wmsd.interfaces.openapi.examples import add_examples
from wmsd.interfaces.openapi.schemas import Schema, Schemas, components_of, reference
from wmsd.interfaces.openapi.webhook_events import EVENT_DATA

SECURITY: Final[dict[str, Schema]] = {
    "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "kernel": {
        "type": "http",
        "scheme": "bearer",
        "description": "The platform token, from `wmsd kernel-token create`.",
    },
    "site": {"type": "http", "scheme": "bearer", "description": "The token of the site, from `wmsd site create`."},
}
DESCRIPTION: Final = """\
The guide is at /docs. Every address that supports GET also supports HEAD, with the same headers and no body.
"""


def openapi_document(
    title: str,
    version: str,
    routes: Sequence[Route],
    has_events: bool = False,
    abilities: Mapping[str, str] = ABILITIES,
) -> dict[str, Any]:
    """Return the OpenAPI description of an interface. `abilities` are the abilities of the installation.

    If `has_events` is True, the description includes the events that webhooks send.
    """
    data = EVENT_DATA.values() if has_events else ()
    operations = [route.operation for route in routes]
    bodies = [each.body for each in operations if each.body is not None]
    answers = [each.returns for each in operations if each.returns is not None]
    schemas = Schemas(
        [*bodies, error_responses.Problem, error_responses.Rfc9457Problem], [*answers, HistoryCut, *data]
    )
    # The parameters of operations add enums to the components, so operations are described first.
    paths: dict[str, Schema] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas, abilities)
    webhooks = webhook_events.webhooks() if has_events else {}
    components = components_of(
        {
            "schemas": {
                **schemas.components,
                "PageMeta": PAGE_META,
                **(webhook_events.schemas() if has_events else {}),
            },
            "headers": headers.ANSWERED,
            "responses": {"Problem": error_responses.before_any_operation()},
        },
        *(paths, webhooks),
    )
    if "Ability" in components["schemas"]:
        components["schemas"]["Ability"]["enum"] = [EVERYTHING, *abilities]
    add_examples(routes, paths, webhooks, components["schemas"])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version,
            "description": DESCRIPTION,
            "contact": {"name": "The platform admin of this installation"},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/", "description": "This installation"}],
        "tags": [
            {"name": name, "description": TAGS[name].description}
            for name in dict.fromkeys(
                [*(route.operation.tag for route in routes), *([webhook_events.TAG] if webhooks else [])]
            )
        ],
        "paths": paths,
        **(
            {"webhooks": {name: {"$ref": f"#/components/pathItems/{name}"} for name in webhooks}}
            if webhooks
            else {}
        ),
        "components": {
            **components,
            # "webhooks" refers to these, because openapi-generator cannot write valid code for inline webhooks.
            **({"pathItems": webhooks} if webhooks else {}),
            "securitySchemes": {name: SECURITY[name] for name in sorted({_security(route) for route in routes})},
        },
    }


def _operation(route: Route, schemas: Schemas, abilities: Container[str]) -> Schema:
    declared = route.operation
    described: Schema = {
        "operationId": declared.name,
        "tags": [declared.tag],
        "summary": declared.summary,
        "description": _description(declared, abilities),
        "parameters": [*_path(declared), *_query(declared, schemas), *headers.sent(route)],
        "responses": {**successes(route), **error_responses.failures(route)},
        "security": _needed_security(route),
        **({} if route.deprecation is None else {"deprecated": True}),
    }
    if declared.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": reference(declared.body.__name__)}},
        }
    return described


def _needed_security(route: Route) -> list[dict[str, list[str]]]:
    """Return the security requirements of an operation.

    Some operations need no token, but return more to callers with a token. The requirement is then optional.
    """
    declared = route.operation
    if declared.signed_in:
        return [{_security(route): []}]
    return [{}, {_security(route): []}] if {"caller", "company"} & declared.takes else []


def _security(route: Route) -> str:
    scope = route.operation.scope
    return scope if scope in SECURITY else "token"


def _description(declared: Operation, abilities: Container[str]) -> str:
    parts = [declared.description]
    if declared.ability:
        parts.append(f"Ability: `{needed_ability(declared.ability, abilities)}`.")
    if declared.module and declared.module != "api":
        parts.append(f"Modules: `{declared.module}` and `api`.")
    if declared.events:
        parts.append(f"Events: {', '.join(f'`{event}`' for event in declared.events)}.")
    return "\n\n".join(part for part in parts if part) or f"{declared.summary}."


def _path(declared: Operation) -> list[Schema]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer", "minimum": 1} if kind is int else {"type": "string"},
        }
        for name, kind in declared.path_types.items()
    ]


def _query(declared: Operation, schemas: Schemas) -> list[Schema]:
    if declared.query is None:
        return []
    properties = declared.query.model_json_schema()["properties"]
    return [
        _parameter(name, schemas.plain(schema, declared.query.__name__, name))
        for name, schema in properties.items()
    ]


def _parameter(name: str, schema: Schema) -> Schema:
    """Return a query parameter with this schema, but without null. Clients leave out a parameter instead of
    sending null.
    """
    plain = {key: value for key, value in schema.items() if key not in ("description", "anyOf")}
    for option in schema.get("anyOf", []):
        if option.get("type") != "null":
            plain |= option
    parameter: Schema = {"name": name, "in": "query", "required": False, "schema": plain}
    if "description" in schema:
        parameter["description"] = schema["description"]
    return parameter
