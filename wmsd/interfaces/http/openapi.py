"""OpenAPI 3.1, generated from the declarations of operations. Nothing here names a route."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from wmsd.base.fields import Model
from wmsd.base.operation import Operation
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.base.route import Route

SCHEMA: Final = "#/components/schemas/"

EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "UNAUTHORIZED": {"message": "The token is missing, invalid, revoked or expired."},
    "FORBIDDEN": {"message": "This token lacks the ability articles:write."},
    "NOT_FOUND": {"message": "There is no such article."},
    "INVALID_STATUS": {
        "message": "A delivered order cannot be cancelled.",
        "details": {"current": "LIVRAT", "requested": "ANULAT", "allowed": []},
    },
    "PRECONDITION_FAILED": {"message": "The record has changed since it was read."},
    "STORAGE_FULL": {"message": "The quota of 500 MB is reached: nothing new can be stored."},
    "REQUEST_TIMEOUT": {"message": "The request body did not arrive within 20 s; send it again."},
    "INSUFFICIENT_STOCK": {
        "message": "There is not enough stock; nothing was reserved.",
        "errors": {"lines.0.quantity": ["is more than there is: 3 available, 5 wanted"]},
    },
    "INVALID_PARTNER": {
        "message": "The partner is not valid.",
        "errors": {"partner_id": ["is not a partner of this company"]},
    },
    "INVALID_WAREHOUSE": {
        "message": "A warehouse is not valid.",
        "errors": {"lines.0.warehouse_id": ["is not a warehouse of this company"]},
    },
    "INVALID_ARTICLE": {
        "message": "An article is not valid.",
        "errors": {"lines.0.article_code": ["is not an article of this company"]},
    },
    "VALIDATION_FAILED": {
        "message": "One field is not valid.",
        "errors": {"code": ["must have at least 1 character"]},
    },
    "COMPANY_REQUIRED": {"message": "Send X-Company-Id with the id of a company that this token may use."},
    "RATE_LIMIT_EXCEEDED": {"message": "Too many requests: the limit is 60 a minute. Try again in 12 s."},
    "SERVICE_UNAVAILABLE": {"message": "The server cannot use its disk now; nothing was changed."},
    "SERVER_ERROR": {"message": "Something went wrong on the server. Its log has the request id."},
}

PHRASES: Final = {
    400: "The body is not a JSON object",
    401: "Token missing, invalid or expired",
    403: "Ability missing or module off",
    404: "No such record",
    408: "The body did not arrive in time",
    409: "The status does not allow it",
    412: "The record has changed",
    413: "The body is too large",
    415: "The body is not plain JSON",
    422: "Invalid data",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable now",
    507: "The company's quota is used up",
}


SECURITY: Final[dict[str, dict[str, str]]] = {
    "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "kernel": {
        "type": "http",
        "scheme": "bearer",
        "description": "The platform token, from `wmsd kernel-token create`.",
    },
    "site": {"type": "http", "scheme": "bearer", "description": "The token of the site, from `wmsd site create`."},
}


class Problem(Model):
    """The form of every error."""

    message: str
    code: str
    errors: dict[str, list[str]] = {}
    details: dict[str, Any] = {}


def document(title: str, version: str, routes: Sequence[Route]) -> dict[str, Any]:
    """The description of an interface, from its routes."""
    models: dict[type[BaseModel], None] = dict.fromkeys([*_models(routes), Problem])
    shapes: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "validation") for model in models]
    _, schemas = models_json_schema(shapes, ref_template=SCHEMA + "{model}")
    components: dict[str, Any] = schemas["$defs"]
    for route in routes:
        if (model := route.operation.returns) is not None:
            # A record in an answer has every field, even those that are optional in a request.
            left_out = model.ONLY_WHEN_ASKED if issubclass(model, Model) else frozenset()
            components[model.__name__]["required"] = sorted(set(model.model_fields) - left_out)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version,
            "description": "The guide is at /docs.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(route.operation.tag for route in routes)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {name: SECURITY[name] for name in sorted({_security(route) for route in routes})},
        },
    }


def _models(routes: Iterable[Route]) -> Iterable[type[BaseModel]]:
    for route in routes:
        for model in (route.operation.body, route.operation.returns):
            if model is not None:
                yield model


def _operation(route: Route) -> dict[str, Any]:
    declared = route.operation
    described: dict[str, Any] = {
        "operationId": declared.name,
        "tags": [declared.tag],
        "summary": declared.summary,
        "description": _description(declared),
        "parameters": [*_path(declared), *_query(declared), *_headers(declared)],
        "responses": {**_success(declared), **_failures(declared)},
        "security": _needed_security(route),
    }
    if declared.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _reference(declared.body)}},
        }
    return described


def _needed_security(route: Route) -> list[dict[str, list[str]]]:
    """Open operations accept a token too when they take the caller or the company: then they tell more."""
    declared = route.operation
    if declared.signed_in:
        return [{_security(route): []}]
    return [{}, {_security(route): []}] if {"caller", "company"} & declared.takes else []


def _security(route: Route) -> str:
    scope = route.operation.scope
    return scope if scope in SECURITY else "token"


def _description(declared: Operation) -> str:
    parts = [declared.description]
    if declared.ability:
        parts.append(f"Ability: `{declared.ability}`.")
    if declared.module and declared.module != "api":
        parts.append(f"Modules: `{declared.module}` and `api`.")
    if declared.events:
        parts.append(f"Events: {', '.join(f'`{event}`' for event in declared.events)}.")
    return "\n\n".join(part for part in parts if part)


def _path(declared: Operation) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer", "minimum": 1} if kind is int else {"type": "string"},
        }
        for name, kind in declared.path_types.items()
    ]


def _query(declared: Operation) -> list[dict[str, Any]]:
    if declared.query is None:
        return []
    properties = declared.query.model_json_schema()["properties"]
    return [_parameter(name, schema) for name, schema in properties.items()]


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in schema.items() if key not in ("title", "description", "anyOf")}
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    if options:
        plain |= options[0]
    if plain.get("default", 0) is None:
        del plain["default"]
    parameter: dict[str, Any] = {"name": name, "in": "query", "required": False, "schema": plain}
    if "description" in schema:
        parameter["description"] = schema["description"]
    return parameter


def _headers(declared: Operation) -> list[dict[str, Any]]:
    company = {"name": "X-Company-Id", "in": "header", "schema": {"type": "integer", "minimum": 1}}
    operator = {"name": "X-Three-Pl-Id", "in": "header", "required": False, "schema": {"type": "integer"}}
    if declared.scope == "company":
        return [{**company, "required": True}, operator, *_write_headers(declared)]
    if declared.scope == "site":
        return _write_headers(declared)
    if "operator_id" in declared.takes:
        return [operator]
    return [{**company, "required": False}] if "company" in declared.takes else []


def _write_headers(declared: Operation) -> list[dict[str, Any]]:
    headers = []
    if declared.writes and declared.body is not None:
        headers.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
                "description": "A repetition with the same key and body gets the same answer and changes nothing.",
            }
        )
    if declared.precondition is not None:
        headers.append(
            {
                "name": "If-Match",
                "in": "header",
                "required": False,
                "schema": {"type": "string"},
                "description": "The ETag of the record that was read: 412 when it has changed since.",
            }
        )
    return headers


def _success(declared: Operation) -> dict[str, Any]:
    if declared.answer == "nothing":
        return {"204": {"description": "Done"}}
    assert declared.returns is not None, declared.name
    schema = _envelope(declared)
    answer: dict[str, Any] = {
        "description": declared.summary,
        "content": {"application/json": {"schema": schema}},
    }
    headers = {}
    if declared.limit != "none":
        headers = {
            name: {"schema": {"type": "integer"}, "description": text}
            for name, text in (
                ("X-RateLimit-Limit", "Requests a minute."),
                ("X-RateLimit-Remaining", "Requests that are left of them."),
                ("X-RateLimit-Reset", "Seconds until the whole window is free."),
            )
        }
    if declared.answer == "record":
        headers["ETag"] = {"schema": {"type": "string"}, "description": "Changes whenever the record does."}
    if declared.creates:
        headers["Location"] = {"schema": {"type": "string"}, "description": "The address of the new record."}
    if headers:
        answer["headers"] = headers
    shown = {"201" if declared.creates else "200": answer}
    return shown if declared.also_shown_with is None else {**shown, str(declared.also_shown_with): answer}


def _envelope(declared: Operation) -> dict[str, Any]:
    assert declared.returns is not None
    record: dict[str, Any] = _reference(declared.returns)
    if declared.query is not None and "fields" in declared.query.model_fields:
        record = {"type": "object", "required": ["id"], "description": "The chosen fields of the record."}
    if declared.answer == "page":
        meta: dict[str, Any] = {
            name: {"type": "integer"} for name in ("current_page", "last_page", "per_page", "total")
        }
        meta["truncated"] = {
            "type": "boolean",
            "description": "The page ends early, as its records are too large for one answer; ask for fewer.",
        }
        return _object(
            {
                "data": {"type": "array", "items": record},
                "meta": _object(meta),
            }
        )
    if declared.answer == "cursor":
        return _object(
            {
                "data": {"type": "array", "items": record},
                "next_cursor": {"type": ["string", "null"], "description": "null on the last page."},
                "end_cursor": {
                    "type": "string",
                    "description": "The place after the last record. As `cursor`, with the same filters, the "
                    "list goes on there, also when it ended and more has come since.",
                },
            }
        )
    return record


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def codes_of(declared: Operation) -> list[str]:
    """Every error code of an operation: those that its declaration implies, and those that it names."""
    codes = list(declared.codes)
    if declared.signed_in:
        codes.append("UNAUTHORIZED")
    if declared.scope == "company":
        codes += ["FORBIDDEN", "COMPANY_REQUIRED", "SERVICE_UNAVAILABLE"]
    if declared.scope == "site":
        codes += ["FORBIDDEN", "SERVICE_UNAVAILABLE"]
    if declared.scope == "platform" and (declared.signed_in or declared.writes):
        codes.append("SERVICE_UNAVAILABLE")
    is_asked_for_room = declared.writes and declared.answer != "nothing" and declared.needs is None
    if is_asked_for_room and declared.scope in ("company", "site"):
        codes.append("STORAGE_FULL")
    if declared.path_types:
        codes.append("NOT_FOUND")
    if declared.precondition is not None:
        codes.append("PRECONDITION_FAILED")
    if not declared.ignores_query:
        codes.append("VALIDATION_FAILED")
    if declared.limit != "none":
        codes.append("RATE_LIMIT_EXCEEDED")
    return [*dict.fromkeys(codes), "SERVER_ERROR"]


def _failures(declared: Operation) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for code in codes_of(declared):
        by_status.setdefault(STATUS_OF_CODE[code], []).append(code)
    if declared.body is not None:
        by_status[408] = ["REQUEST_TIMEOUT"]
        for status in (400, 413, 415):
            by_status[status] = ["VALIDATION_FAILED"]
    return {str(status): _failure(status, codes) for status, codes in sorted(by_status.items())}


def _failure(status: int, codes: list[str]) -> dict[str, Any]:
    examples = {code: {"value": {**EXAMPLES.get(code, {"message": code}), "code": code}} for code in codes}
    failure: dict[str, Any] = {
        "description": PHRASES[status],
        "headers": {
            "X-Request-Id": {
                "schema": {"type": "string"},
                "description": "The id of the request, also in the server's log.",
            }
        },
        "content": {"application/json": {"schema": {"$ref": SCHEMA + "Problem"}, "examples": examples}},
    }
    if status in (429, 503):
        failure["headers"]["Retry-After"] = {"schema": {"type": "integer"}, "description": "Seconds to wait."}
    return failure


def _reference(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": SCHEMA + model.__name__}
