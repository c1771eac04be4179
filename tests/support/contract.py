"""Holds live answers to the served description."""

import re
from collections.abc import Sequence
from typing import Any, Final

from jsonschema import Draft202012Validator

Document = dict[str, Any]
OF_OTHERS: Final = frozenset({"run_batch"})
"""Operations whose events are those of the operations that they carry out."""
EVENTS: Final = re.compile(r"^Events: (.*)\.$", re.MULTILINE)


def described_events(operation: dict[str, Any]) -> set[str]:
    found = EVENTS.search(operation.get("description", ""))
    return set(found[1].replace("`", "").split(", ")) if found else set()


class Contract:
    """The OpenAPI documents of a running service."""

    def __init__(self, *documents: Document) -> None:
        self._routes: list[tuple[re.Pattern[str], str, dict[str, Any], Document]] = []
        self._validators: dict[tuple[str, int, int], Draft202012Validator] = {}
        for document in documents:
            for path, operations in document["paths"].items():
                pattern = re.compile(re.sub(r"\{[a-z_]+\}", "[^/]+", path))
                for method, operation in operations.items():
                    self._routes.append((pattern, method, operation, document))
        # A literal path wins over one with a parameter, as in the router.
        self._routes.sort(key=lambda route: route[0].pattern.count("[^/]"))

    def check(self, method: str, path: str, status: int, body: Any, events: Sequence[str]) -> None:
        """Fails when the description does not foresee this status or one of the events, or the body is not of its
        form.
        """
        found = self._find(method, path)
        if found is None:
            return
        operation, document = found
        undeclared = set(events) - described_events(operation)
        assert not undeclared or operation["operationId"] in OF_OTHERS, f"{method} {path} declares no {undeclared}"
        responses = operation["responses"]
        assert str(status) in responses, f"{method} {path} answers {status}; documented: {sorted(responses)}"
        content = responses[str(status)].get("content")
        if content is None:
            assert body is None
            return
        key = (operation["operationId"], status, id(document))
        if key not in self._validators:
            schema = {**content["application/json"]["schema"], "components": document["components"]}
            self._validators[key] = Draft202012Validator(schema)
        self._validators[key].validate(body)

    def _find(self, method: str, path: str) -> tuple[dict[str, Any], Document] | None:
        for pattern, known_method, operation, document in self._routes:
            if known_method == method.lower() and pattern.fullmatch(path):
                return operation, document
        return None
