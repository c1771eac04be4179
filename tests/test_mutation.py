"""Tests of `scripts/mutate`: what it breaks, and the tests that should notice it, exist under these names."""

import ast
from pathlib import Path

import pytest

from mutation import known
from mutation.rooms import ROOMS, ROOT, Room


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_its_files_and_tests_are_there(room: Room) -> None:
    assert [pattern for pattern in room.files if not [*ROOT.glob(pattern)]] == []
    assert [test for test in room.tests if not (ROOT / test).exists()] == []


def test_what_goes_unnoticed_is_of_functions_that_are_there() -> None:
    named = {(breakage.file, breakage.function) for breakage in known.read()}
    there = {file: functions(ROOT / file) for file in {file for file, _ in named}}
    assert sorted(f"{file} {function}" for file, function in named if function not in there[file]) == []


def functions(path: Path) -> set[str]:
    """Return the functions of a file. The name of a method starts with the name of its class."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else ():
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        found |= {prefix + each.name for each in inner if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    return found
