"""`wmsd licenses`: all third-party texts that their licences demand, and nothing that is not included."""

import importlib.metadata
import re

import pytest

from tests.support.command import Home
from wmsd.host import licences


def test_every_package_that_is_needed_is_named_with_its_version_and_licence(home: Home) -> None:
    listed = {each["name"]: each for each in home.run("licenses", "--json").json}
    for requirement in importlib.metadata.requires("aiohttp") or ():
        name = re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower()
        if "extra ==" not in requirement and "python_version" not in requirement:
            assert listed[name]["version"] == importlib.metadata.version(name)
    assert listed["polib"] == {"name": "polib", "version": importlib.metadata.version("polib"), "licence": "MIT"}
    assert "pytest" not in listed


def test_every_component_has_the_text_of_its_licence() -> None:
    assert [each.name for each in licences.components() if len(each.text.strip()) < 200] == []


def test_one_licence_is_printed_by_its_name(home: Home) -> None:
    text = home.run("licenses", "POLIB").out
    assert text.startswith(
        f"polib {importlib.metadata.version('polib')}: MIT\n\nCopyright (c) 2006-2015 David Jean Louis."
    )
    assert "Permission is hereby granted" in text


def test_all_texts_are_printed_together(home: Home) -> None:
    text = home.run("licenses", "--full").out
    for each in licences.components():
        assert f"{each.name} {each.version}: {each.licence}\n" in text
        assert each.text.strip().split("\n")[-1] in text


def test_a_name_that_is_not_there(home: Home) -> None:
    assert (
        home.misunderstood("licenses", "sap")
        == "Error: No component has the name sap. To list the names: wmsd licenses"
    )


@pytest.mark.parametrize("requirement", ["aiohttp==3.14.5 \\\n    --hash=sha256:0", "aiohttp==1"])
def test_the_lock_names_the_packages(requirement: str) -> None:
    assert licences.REQUIREMENT.findall(f"# a comment\n{requirement}\n") == ["aiohttp"]
