"""Checks live answers against the served OpenAPI description."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

from wmsd.interfaces.openapi import headers

Document = dict[str, Any]
OF_OTHERS: Final = frozenset({"run_batch"})
"""Operations that carry out other operations. Their description does not repeat the events of those operations."""
OUR_HEADERS: Final = frozenset(map(str.lower, headers.ANSWERED))
EVENTS: Final = re.compile(r"^Events: (.*)\.$", re.MULTILINE)


def described_events(operation: dict[str, Any]) -> set[str]:
    found = EVENTS.search(operation.get("description", ""))
    return set(found[1].replace("`", "").split(", ")) if found else set()


class Contract:
    """The OpenAPI documents of a running service, against which answers are checked."""

    def __init__(self, *documents: Document) -> None:
        self._routes: list[tuple[re.Pattern[str], str, dict[str, Any], Document]] = []
        self._documents = documents
        self._events: dict[str, Draft202012Validator] = {}
        self._validators: dict[tuple[str, int, int], Draft202012Validator] = {}
        for document in documents:
            for path, operations in document["paths"].items():
                pattern = re.compile(re.sub(r"\{[a-z_]+\}", "[^/]+", path))
                for method, operation in operations.items():
                    self._routes.append((pattern, method, operation, document))
        # A literal path wins over a path with a parameter, as in the router.
        self._routes.sort(key=lambda route: route[0].pattern.count("[^/]"))

    def check(
        self,
        method: str,
        path: str,
        status: int,
        headers: Iterable[str],
        body: Any,
        events: Sequence[tuple[str, Any]],
    ) -> None:
        """Fail if an answer does not match the description.

        The status, the headers and the events must be declared. The body and the data of each event must match
        their schemas.
        """
        for event, data in events:
            self._check_event(event, data)
        found = self._find(method, path)
        if found is None:
            return
        operation, document = found
        undeclared = {event for event, _ in events} - described_events(operation)
        assert not undeclared or operation["operationId"] in OF_OTHERS, f"{method} {path} declares no {undeclared}"
        responses = operation["responses"]
        assert str(status) in responses, f"{method} {path} answers {status}; documented: {sorted(responses)}"
        missing = OUR_HEADERS.intersection(map(str.lower, headers)) - set(
            map(str.lower, responses[str(status)].get("headers", ()))
        )
        assert not missing, f"{method} {path}: {status} has no {missing} in its description"
        content = responses[str(status)].get("content")
        if content is None:
            assert body is None
            return
        key = (operation["operationId"], status, id(document))
        if key not in self._validators:
            schema = {**content["application/json"]["schema"], "components": document["components"]}
            self._validators[key] = Draft202012Validator(schema)
        self._validators[key].validate(body)

    def _check_event(self, event: str, data: Any) -> None:
        if event not in self._events:
            for document in self._documents:
                if event in document.get("webhooks", {}):
                    body = document["components"]["pathItems"][event]["post"]["requestBody"]["content"][
                        "application/json"
                    ]
                    schema = {**body["schema"], "components": document["components"]}
                    self._events[event] = Draft202012Validator(schema)
        self._events[event].validate({"event": event, "timestamp": "2026-11-20T13:25:00.000Z", "data": data})

    def _find(self, method: str, path: str) -> tuple[dict[str, Any], Document] | None:
        for pattern, known_method, operation, document in self._routes:
            if known_method == method.lower() and pattern.fullmatch(path):
                return operation, document
        return None
