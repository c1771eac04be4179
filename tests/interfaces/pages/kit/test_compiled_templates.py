"""A built program has its templates compiled, and a source tree keeps what it has compiled. Otherwise, each start
would compile them for a second.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from wmsd.interfaces.pages.kit import rendering


@pytest.fixture(scope="module")
def complete() -> dict[str, bytes]:
    return dict(rendering.compiled_templates())


@pytest.fixture
def compiled(complete: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Load compiled templates from the folder `tmp_path`, which has all of them. Yield the names of the templates
    that are compiled from now on.
    """
    for name, content in complete.items():
        (tmp_path / name).write_bytes(content)
    names: list[str] = []
    compile_ = Environment.compile

    def noted(environment: Environment, source: str, name: str, *others: Any, **given: Any) -> Any:
        names.append(name)
        return compile_(environment, source, name, *others, **given)

    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(rendering, "COMPILED", tmp_path)
    monkeypatch.setattr(Environment, "compile", noted)
    rendering._environment.cache_clear()
    yield names
    rendering._environment.cache_clear()


def test_templates_are_loaded_as_they_were_compiled(compiled: list[str]) -> None:
    rendering.load_templates()
    assert compiled == []
    assert "<h1>" in rendering.render_text("spent", why="", is_demo=False, lacks_admin=False)


def test_what_another_version_compiled_is_compiled_again(compiled: list[str], tmp_path: Path) -> None:
    for file in tmp_path.iterdir():
        file.write_bytes(b"of another version")
    rendering.load_templates()
    assert len(compiled) > 50


def test_what_other_options_compiled_is_compiled_again(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(rendering.SYNTAX, "trim_blocks", False)
    rendering.load_templates()
    assert len(compiled) > 50


def test_what_another_jinja_compiled_is_compiled_again(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jinja2.__version__", "3.1")
    rendering.load_templates()
    assert len(compiled) > 50


@pytest.mark.parametrize("kept_bytes", [0, 20, 40, 200])
def test_what_is_cut_off_is_compiled_again_and_replaced(
    compiled: list[str], complete: dict[str, bytes], tmp_path: Path, kept_bytes: int
) -> None:
    for name, content in complete.items():
        (tmp_path / name).write_bytes(content[:kept_bytes])
    rendering.load_templates()
    assert len(compiled) == len(complete)
    compiled.clear()
    rendering._environment.cache_clear()
    rendering.load_templates()
    assert compiled == []


def test_what_cannot_be_kept_leaves_nothing_behind(
    compiled: list[str], complete: dict[str, bytes], tmp_path: Path
) -> None:
    for name in complete:
        (tmp_path / name).unlink()
        (tmp_path / name).mkdir()
    rendering.load_templates()
    assert len(compiled) == len(complete)
    assert {file.name for file in tmp_path.iterdir()} == complete.keys()


def test_what_is_compiled_is_kept_for_the_next_start(
    compiled: list[str], complete: dict[str, bytes], tmp_path: Path
) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    rendering.load_templates()
    assert {file.name for file in tmp_path.iterdir()} == complete.keys()
    compiled.clear()
    rendering._environment.cache_clear()
    rendering.load_templates()
    assert compiled == []


def test_a_folder_that_cannot_be_written_stops_nothing(
    compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "COMPILED", tmp_path / "a file" / "folder")
    (tmp_path / "a file").touch()
    rendering.load_templates()
    assert len(compiled) > 50
