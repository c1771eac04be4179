"""A built program carries its templates compiled. Otherwise, each start would compile them for a second."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from wmsd.interfaces.pages.kit import rendering


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Load templates from the folder `tmp_path`, as a built program does. Yield the names of the templates that
    are compiled from now on.
    """
    for name, content in rendering.compiled_templates():
        (tmp_path / name).write_bytes(content)
    names: list[str] = []
    compile_ = Environment.compile

    def noted(environment: Environment, source: str, name: str, *others: Any, **given: Any) -> Any:
        names.append(name)
        return compile_(environment, source, name, *others, **given)

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
