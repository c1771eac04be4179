"""A suggested command does what its sentence says, exactly as printed, in any directory."""

import ast
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

import click
import pytest
from markupsafe import Markup

from tests.support.command import ANY_PORT, Home
from tests.support.forked import ROOT, Done
from tests.support.site_elsewhere import Site
from wmsd.interfaces.cli.kit.command_hints import SUGGESTED, command_in, completed
from wmsd.interfaces.cli.main import COMMANDS, wmsd

LEAST_SUGGESTIONS = 110


class Literal(NamedTuple):
    place: str
    text: str


def literals() -> Iterator[Literal]:
    """Yield every text of the product that names a command, except docstrings."""
    for path in sorted((ROOT / "wmsd").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        expressions = [each.value for each in ast.walk(tree) if isinstance(each, ast.Expr)]
        explains = {id(each) for each in expressions if isinstance(each, ast.Constant)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in explains:
                continue
            if SUGGESTED.search(node.value):
                yield Literal(f"{path.relative_to(ROOT)}:{node.lineno}", node.value)


def suggestions() -> Iterator[tuple[Literal, "re.Match[str]"]]:
    for literal in literals():
        for found in SUGGESTED.finditer(literal.text):
            if found["command"] in COMMANDS:
                yield literal, found


GIVEN = {"--data": "/a/data", "--config": "/a/config.toml"}


def test_every_suggestion_of_the_product_is_completed() -> None:
    count = 0
    for literal, found in suggestions():
        place, options = command_in(found)
        added = " ".join(f"{option} {value}" for option, value in GIVEN.items() if option in options)
        whole = completed(literal.text[: found.end()], GIVEN)
        assert (f" {added}" if added else found[0]) in whole, (literal, whole)
        assert not re.match(r"[^.`]*--data\b", literal.text[place:]), f"{literal}: it is added to all"
        count += 1
    assert count >= LEAST_SUGGESTIONS


def test_every_suggestion_is_a_command_with_these_options() -> None:
    """The options of a suggestion are options of the command that it names."""
    for literal, found in suggestions():
        place, options = command_in(found)
        words = re.split(r"[`.;:,)]", literal.text[place:])[0]
        for option in re.findall(r"(?<=\s)--[a-z-]+", words):
            assert option in options, (literal, option)


def test_a_page_escapes_what_is_added() -> None:
    whole = completed(Markup("<b>wmsd doctor</b> &amp; more"), {"--data": "'/a & b'"})
    assert whole == Markup("<b>wmsd doctor --data &#39;/a &amp; b&#39;</b> &amp; more")


def test_what_is_complete_stays_as_it_is() -> None:
    once = completed("Run wmsd doctor, or `wmsd backup restore FILE`.", GIVEN)
    assert once == (
        "Run wmsd doctor --data /a/data --config /a/config.toml, or `wmsd backup restore --data /a/data --config "
        "/a/config.toml FILE`."
    )
    assert completed(once, GIVEN) == once
    quoted = {"--data": """'/it'"'"'s a site'"""}
    assert completed(completed("wmsd doctor", quoted), quoted) == completed("wmsd doctor", quoted)


@pytest.mark.parametrize(
    "text",
    [
        "wmsd serves here",
        "/usr/bin/wmsd doctor",
        "by wmsd token, user and site",
        "wmsd licenses",
        "wmsd service install",
    ],
)
def test_what_is_no_command_of_an_installation_stays_as_it_is(text: str) -> None:
    assert completed(text, GIVEN) == text


@pytest.fixture
def site(home: Home) -> Site:
    return Site(home)


def check(site: Site, done: Done, beginning: str) -> Done:
    """Check that the suggestion has both options, and that it works for the same installation from another
    directory.
    """
    line, typed = site.typed(done, beginning)
    assert site.options in line.replace("  ", " ")
    assert f"Data folder: {site.data}\n" in typed.err
    assert not (site.elsewhere.folder / "data").exists()
    return typed


def test_data_that_are_lost(site: Site) -> None:
    site.made()
    site.run("backup", "create")
    site.data.rename(site.home.folder / "away")
    for command in (("company", "create", "NEW", "--name", "New", "--init"), ("serve",)):
        done = site.run(*command)
        assert done.code == 1
        assert f"To start with no data: wmsd serve {site.options} --create" in done.err
    restored = check(site, done, "backup restore")
    assert restored.code == 0, restored.err
    assert [each["code"] for each in site.run("company", "list", "--json").json] == ["ACME"]


def test_a_company_without_modules(site: Site) -> None:
    done = site.run("company", "create", "ACME", "--name", "Acme", "--init")
    assert check(site, done, "module enable").code == 0
    [company] = site.run("company", "list", "--json").json
    assert "stock" in company["modules"]


def test_a_module_that_is_off(site: Site) -> None:
    site.made()
    site.home.write("articles.csv", "code,name\nA,Alpha\n")
    done = site.run("import", "articles", "articles.csv", "--company", "ACME")
    assert check(site, done, "module enable").code == 0
    again = site.run("import", "articles", "articles.csv", "--company", "ACME")
    assert (again.code, "wmsd module enable" in again.err) == (0, False)


def test_a_company_that_was_deleted(site: Site) -> None:
    site.made()
    done = site.run("company", "delete", "ACME", "--yes")
    verified = site.run("backup", "verify", *(site.config.parent / "kept" / "archive").glob("*.tar.gz"))
    for said in (done, verified):
        line, _ = site.typed(said, "company import")
        assert f"--data {shlex.quote(str(site.data))}" in line
    assert check(site, verified, "company import").code in (0, 1)  # the first run has restored the company
    assert [each["code"] for each in site.run("company", "list", "--json").json] == ["ACME"]


def test_a_file_that_is_missing(site: Site) -> None:
    site.made()
    site.run("backup", "create")
    (site.data / "companies" / "1.db").rename(site.home.folder / "lost.db")
    found = site.run("doctor")
    restored = check(site, found, "backup restore")
    assert restored.code == 0, restored.err
    told = [each["remedy"] for each in found_as_json(site) if "wmsd " in each["remedy"]]
    assert all(f"--config {site.config}" in each for each in told)
    assert (site.data / "companies" / "1.db").exists()


def found_as_json(site: Site) -> list[dict[str, str]]:
    (site.data / "companies" / "1.db").rename(site.home.folder / "lost again.db")
    found: list[dict[str, str]] = site.run("doctor", "--json").json[-1]["installation"]
    assert (
        site.run(
            "backup", "restore", *(site.config.parent / "kept").glob("*.gz"), "--company", "ACME", "--yes"
        ).code
        == 0
    )
    return found


def test_a_user_who_is_disabled(site: Site) -> None:
    site.made()
    assert site.run("user", "create", "a@example.com", "--role", "member", "--company", "ACME", "--link").code == 0
    assert site.run("user", "disable", "a@example.com").code == 0
    done = site.run("token", "create", "--user", "a@example.com", "--ability", "*")
    assert check(site, done, "user enable").code == 0


def test_a_platform_token_that_is_there(site: Site) -> None:
    site.made()
    assert site.run("kernel-token", "create").code == 0
    done = site.run("kernel-token", "create")
    assert check(site, done, "kernel-token rotate").code == 0


def test_a_backup_that_there_is_not(site: Site) -> None:
    site.made()
    done = site.run("backup", "verify")
    assert check(site, done, "backup create").code == 0
    assert site.run("backup", "verify").code == 0


def test_what_status_says(site: Site) -> None:
    site.made()
    site.run("backup", "schedule", "--run")
    for archive in (site.config.parent / "kept").glob("*.gz"):
        archive.unlink()
    done = site.run("status")
    whole = f"wmsd backup schedule {site.options} --run --now"
    assert (done.code, whole in done.err) == (1, True)
    assert whole in str(site.run("status", "--json").json["wrong"])


def test_what_the_log_says(site: Site) -> None:
    site.made()
    with site.home.serving(*site.given, "--tls", "lan") as server:
        assert f"(wmsd tls show {site.options})" in server.log


def test_nothing_is_added_where_nothing_was_given(home: Home) -> None:
    done = home.run("company", "create", "ACME", "--name", "Acme", "--init")
    assert "No modules are on yet. To switch all on: wmsd module enable ACME --all\n" in done.err
    done = home.run("user", "list", env={"WMSD_SERVER_DATA": str(home.data), **ANY_PORT})
    assert "wmsd user create EMAIL" in done.err


def test_no_command_has_other_options_for_its_installation() -> None:
    """The code that completes suggestions knows only the two existing options."""
    context = click.Context(wmsd)
    for name in COMMANDS:
        command = wmsd.get_command(context, name)
        assert command is not None
        for each in getattr(command, "commands", {"": command}).values():
            options = {option for param in each.params for option in param.opts}
            assert ("--data" in options) == ("--config" in options) or name == "service", name
