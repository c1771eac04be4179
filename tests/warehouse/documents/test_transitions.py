"""State tables: the allowed moves, the side of a move on which a document is changed, and the text of a
refusal.
"""

from dataclasses import replace
from typing import Literal

import pytest

from wmsd.base.problems import Problem
from wmsd.warehouse.documents.transitions import Step, Transitions

Status = Literal["NEW", "READY", "PAUSED", "DONE", "LOST"]
TRANSITIONS: Transitions[Status, str] = Transitions(
    "parcel",
    {
        ("NEW", "READY"): "packs",
        ("NEW", "LOST"): "",
        ("READY", "NEW"): "unpacks",
        ("READY", "PAUSED"): "",
        ("READY", "DONE"): "sends",
        ("PAUSED", "READY"): "",
        ("PAUSED", "NEW"): "unpacks",
        ("LOST", "NEW"): "",
    },
    lines_change_in=frozenset({"NEW"}),
    fields_change_in=frozenset({"NEW", "READY", "DONE"}),
    lines="contents",
)


def refusal(of: Problem) -> tuple[int, str, object]:
    return of.status, of.message, of.details


@pytest.mark.parametrize(
    ("current", "requested", "sentence", "allowed"),
    [
        ("NEW", "DONE", "cannot become DONE, only READY or LOST", ["READY", "LOST"]),
        ("READY", "LOST", "cannot become LOST, only NEW, PAUSED or DONE", ["NEW", "PAUSED", "DONE"]),
        ("LOST", "DONE", "cannot become DONE, only NEW", ["NEW"]),
        ("DONE", "NEW", "cannot change its status any more", []),
        ("NEW", "NEW", "cannot become NEW, only READY or LOST", ["READY", "LOST"]),
    ],
)
def test_what_may_not_follow_says_what_may(
    current: Status, requested: Status, sentence: str, allowed: list[Status]
) -> None:
    with pytest.raises(Problem) as refused:
        TRANSITIONS.effect(current, requested)
    details = {"current": current, "requested": requested, "allowed": allowed}
    assert refusal(refused.value) == (409, f"A parcel with the status {current} {sentence}.", details)


def test_a_move_has_an_effect() -> None:
    assert [TRANSITIONS.effect("NEW", "READY"), TRANSITIONS.effect("NEW", "LOST")] == ["packs", ""]


@pytest.mark.parametrize(
    ("current", "requested", "way"),
    [
        ("NEW", "NEW", []),
        ("NEW", "READY", ["READY"]),
        ("NEW", "DONE", ["READY", "DONE"]),
        ("LOST", "PAUSED", ["NEW", "READY", "PAUSED"]),
        ("PAUSED", "LOST", ["NEW", "LOST"]),
    ],
)
def test_the_shortest_way(current: Status, requested: Status, way: list[Status]) -> None:
    assert TRANSITIONS.shortest_path(current, requested) == way


def test_where_there_is_no_way() -> None:
    with pytest.raises(Problem) as refused:
        TRANSITIONS.shortest_path("DONE", "NEW")
    details = {"current": "DONE", "requested": "NEW", "allowed": []}
    assert refusal(refused.value) == (409, "The status cannot change from DONE to NEW.", details)


@pytest.mark.parametrize(
    ("current", "requested", "fields", "lines", "steps"),
    [
        ("NEW", "NEW", False, False, []),
        ("NEW", "NEW", True, True, [Step.CHANGE]),
        ("NEW", "READY", False, False, [Step.MOVE]),
        ("NEW", "READY", False, True, [Step.CHANGE, Step.MOVE]),
        ("READY", "NEW", False, True, [Step.MOVE, Step.CHANGE]),
        ("READY", "DONE", True, False, [Step.CHANGE, Step.MOVE]),
        ("PAUSED", "READY", True, False, [Step.MOVE, Step.CHANGE]),
        ("READY", "READY", True, False, [Step.CHANGE]),
    ],
)
def test_a_change_is_made_on_the_side_that_allows_it(
    current: Status, requested: Status, fields: bool, lines: bool, steps: list[Step]
) -> None:
    assert TRANSITIONS.steps(current, requested, differing(fields, lines)) == steps


@pytest.mark.parametrize(
    ("current", "requested", "lines", "sentence", "told"),
    [
        ("READY", "READY", True, "is READY. Move it back to NEW to change its contents.", None),
        ("READY", "DONE", True, "is READY. Move it back to NEW to change its contents.", "DONE"),
        ("DONE", "DONE", True, "is DONE. Its contents cannot be changed any more.", None),
        ("PAUSED", "PAUSED", False, "is PAUSED. It cannot be changed any more.", None),
        ("PAUSED", "PAUSED", True, "is PAUSED. It cannot be changed any more.", None),
        ("LOST", "LOST", True, "is LOST. It cannot be changed any more.", None),
    ],
)
def test_a_change_that_neither_side_allows_says_what_would(
    current: Status, requested: Status, lines: bool, sentence: str, told: Status | None
) -> None:
    with pytest.raises(Problem) as refused:
        TRANSITIONS.steps(current, requested, differing(True, lines))
    allowed = [status for status in TRANSITIONS.allowed_from(current) if status != told]
    details = {"current": current, "requested": told, "allowed": allowed}
    assert refusal(refused.value) == (409, f"This parcel {sentence}", details)


def test_a_move_that_is_not_allowed_is_refused_before_a_change() -> None:
    with pytest.raises(Problem, match="A parcel with the status NEW cannot become DONE"):
        TRANSITIONS.steps("NEW", "DONE", differing(True, True))


def differing(fields: bool, lines: bool) -> list[str]:
    return [*(["notes"] if fields else []), *(["contents"] if lines else [])]


@pytest.mark.parametrize(
    ("current", "requested", "names", "steps"),
    [
        ("READY", "READY", ["label"], "is READY. Move it back to NEW to change its label."),
        (
            "READY",
            "READY",
            ["label", "contents"],
            "is READY. Move it back to NEW to change its label and contents.",
        ),
        ("READY", "READY", ["notes", "label"], "is READY. Move it back to NEW to change its label."),
        ("READY", "NEW", ["notes", "label"], [Step.MOVE, Step.CHANGE]),
        ("NEW", "READY", ["label"], [Step.CHANGE, Step.MOVE]),
        ("PAUSED", "PAUSED", ["weight"], [Step.CHANGE]),
        ("PAUSED", "PAUSED", ["weight", "notes"], "is PAUSED. Only its weight can be changed now."),
        ("READY", "PAUSED", ["weight", "notes"], [Step.CHANGE, Step.MOVE]),
        ("LOST", "LOST", ["weight"], "is LOST. It cannot be changed any more."),
    ],
)
def test_a_field_may_have_statuses_of_its_own(
    current: Status, requested: Status, names: list[str], steps: list[Step] | str
) -> None:
    own = {name: frozenset[Status]({"NEW"}) for name in ("label", "seal")} | {
        "weight": frozenset[Status]({"NEW", "READY", "PAUSED", "DONE"})
    }
    transitions = replace(TRANSITIONS, own_change_in=own)
    if isinstance(steps, list):
        assert transitions.steps(current, requested, names) == steps
        return
    with pytest.raises(Problem) as refused:
        transitions.steps(current, requested, names)
    assert refused.value.message == f"This parcel {steps}"
