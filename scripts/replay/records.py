"""A state of the shop, part by part, so that a difference is told as what it is."""

from collections.abc import Iterable, Iterator

Records = dict[str, list[object]]
"""What there is under each name: one thing when all is well. What is there twice has two."""


def put(records: Records, name: str, value: object) -> None:
    records.setdefault(name, []).append(value)


def put_document(
    records: Records, name: str, header: tuple[object, ...], way: Iterable[str], lines: Iterable[object]
) -> None:
    """`way`: the statuses that it went through."""
    put(records, name, header)
    put(records, f"{name} statuses", tuple(way))
    for position, line in enumerate(lines, start=1):
        put(records, f"{name} line {position}", line)


def differences(expected: Records, found: Records) -> Iterator[str]:
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            yield f"{name}: expected {_shown(expected.get(name))}, found {_shown(found.get(name))}."


def _shown(values: list[object] | None) -> str:
    return "nothing" if values is None else " and ".join(map(str, values))
