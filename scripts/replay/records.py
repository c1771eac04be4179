"""The state of the shop as named records, so that each difference can be reported by name."""

from collections.abc import Iterable, Iterator

Records = dict[str, list[object]]
"""The values of each record, by its name. A record has one value, or two if it exists twice by mistake."""


def put(records: Records, name: str, value: object) -> None:
    records.setdefault(name, []).append(value)


def put_document(
    records: Records, name: str, header: tuple[object, ...], way: Iterable[str], lines: Iterable[object]
) -> None:
    """Add a document. `way` has the statuses of its history, in order."""
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
