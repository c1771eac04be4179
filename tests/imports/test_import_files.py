"""Tests of `wmsd import` and the files around it: the errors file, and a list that others write
while it is read.
"""

import csv
import errno
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.command import Tenant, at_a_terminal
from wmsd.imports.csv_rows import Unreadable
from wmsd.imports.errors import Wrong
from wmsd.imports.file_form import lines_of
from wmsd.interfaces.cli.files.import_export import write_whole
from wmsd.interfaces.cli.files.import_progress import ShownProgress

TWICE = "code,name\nA,Apple\nA,Again\n"
SAME = "--errors would overwrite the imported file. Name another file."


def by_its_name(path: Path) -> Path:
    return path


def by_a_link(path: Path) -> Path:
    link = path.with_name("link.csv")
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    return link


def by_a_second_name(path: Path) -> Path:
    other = path.with_name("second.csv")
    other.unlink(missing_ok=True)
    os.link(path, other)
    return other


def by_a_detour(path: Path) -> Path:
    return path.parent / "data" / ".." / path.name


@pytest.mark.parametrize("named", [by_its_name, by_a_link, by_a_second_name, by_a_detour])
@pytest.mark.parametrize("flags", [(), ("--preview",), ("--dry-run", "--json")])
def test_errors_never_overwrite_the_list(tenant: Tenant, named: object, flags: tuple[str, ...]) -> None:
    path = tenant.home.write("mine.csv", TWICE)
    other = named(path)  # type: ignore[operator]  # a parameter is an object
    arguments = ("import", "articles", path, "--company", tenant.code, "--errors", other, *flags)
    done = tenant.home.run(*arguments)
    assert (done.code, done.out, done.wrong) == (1, "", [SAME, "Nothing was imported."])
    assert path.read_text() == TWICE


def test_errors_never_overwrite_what_standard_input_reads(tenant: Tenant) -> None:
    path = tenant.home.write("mine.csv", TWICE)
    with path.open("rb") as file:
        arguments = ("import", "articles", "-", "--company", tenant.code, "--errors", path)
        done = tenant.home.run_fresh(*arguments, stdin=file)
    assert done.wrong == [SAME, "Nothing was imported."]
    assert path.read_text() == TWICE


def test_an_errors_file_is_replaced_as_a_whole(tenant: Tenant) -> None:
    path, old = tenant.home.write("mine.csv", TWICE), tenant.home.write("errors.csv", "old\n" * 1000)
    link = by_a_link(old)
    old.chmod(0o640)
    tenant.home.refusals("import", "articles", path, "--company", tenant.code, "--errors", link)
    assert old.read_text() == "row,column,cell,message\n3,code,A,is given twice; first in row 2\n"
    assert (link.is_symlink(), old.stat().st_mode & 0o777) == (True, 0o640)


def test_an_errors_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    old = tmp_path / "errors.csv"
    old.write_text("old\n")

    def errors() -> Iterator[Wrong]:
        yield from (Wrong(2, "code", "A", "is given twice") for _ in range(10_000))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left") as raised:
        write_whole(errors(), old)
    assert raised.value.filename == str(old)
    assert (old.read_text(), list(tmp_path.iterdir())) == ("old\n", [old])


WRONG_HEADERS = {
    "cod,nam,nonsense\nA,Apple,1\n": [
        ("1", "cod", "the column 'cod' is unknown; did you mean code?"),
        ("1", "nam", "the column 'nam' is unknown; did you mean name?"),
        ("1", "nonsense", "the column 'nonsense' is unknown; the known columns are "),
        ("1", "code", "the column 'code' is missing"),
    ],
    "code,name,name\nA,Apple,Pear\n": [("1", "name", "the column 'name' appears twice")],
    "": [("", "", "the file is empty. Its first line must name the columns")],
    'code,name\nA,"Apple\n': [("", "", "line 2: a quotation mark opens here and is never closed")],
}


@pytest.mark.parametrize("flags", [(), ("--preview",), ("--dry-run", "--json")])
def test_a_file_of_errors_tells_this_run_and_no_earlier_one(tenant: Tenant, flags: tuple[str, ...]) -> None:
    errors = tenant.home.folder / "errors.csv"
    command: list[str] = ["import", "articles", "-", "--company", tenant.code, "--errors", str(errors), *flags]

    def written() -> list[tuple[str, str, str]]:
        with errors.open(newline="") as file:
            heading, *rows = csv.reader(file)
        assert heading == ["row", "column", "cell", "message"]
        return [(row, column, message) for row, column, _, message in rows]

    for content, expected in WRONG_HEADERS.items():
        errors.write_text("old\n")
        tenant.home.run(*command, stdin=content)
        found = written()
        assert [each[:2] for each in found][: len(expected)] == [each[:2] for each in expected]
        for (_, _, message), (_, _, begins) in zip(found, expected, strict=False):
            assert message.startswith(begins)
    tenant.home.run(*command, stdin=TWICE)
    assert written() == [("3", "code", "is given twice; first in row 2")]
    tenant.home.ok(*command, stdin="code,name\nA,Apple\n")
    assert written() == []
    errors.write_text("old\n")
    assert tenant.home.run("import", "articles", "-", "--company", "NONE", "--errors", errors).code == 1
    assert written() == []


def test_a_file_of_errors_that_cannot_be_written_is_told_before_the_import(tenant: Tenant) -> None:
    nowhere = tenant.home.folder / "nowhere" / "errors.csv"
    tenant.home.refusals(
        *("import", "articles", "-", "--company", tenant.code, "--errors", nowhere), stdin="code,name\nA,Apple\n"
    )
    assert tenant.rows("articles") == []


@pytest.mark.parametrize("flags", [(), ("--dry-run",), ("--json",)])
def test_a_refused_header_leaves_no_trace(tenant: Tenant, flags: tuple[str, ...]) -> None:
    path = tenant.home.write("x.csv", "Artikelnummer;name\n1;a\n")
    for source in (path, "-"):
        arguments = ("import", "articles", source, "--company", tenant.code, *flags)
        with path.open("rb") as file:
            done = tenant.home.run_fresh(*arguments, stdin=file)
        assert done.code == 1
        assert "the column 'Artikelnummer' is unknown" in done.err
        assert "ignored" not in done.err
        assert "Traceback" not in done.err


def test_a_sentence_begins_on_a_line_of_its_own(tenant: Tenant) -> None:
    path = tenant.home.write("x.csv", "Artikelnummer;name\n1;a\n")
    shown = at_a_terminal(tenant.home, "import", "articles", path, "--company", tenant.code).err
    (line,) = (each for each in shown.splitlines() if "Artikelnummer" in each)
    assert line.removeprefix("\x1b[31m").startswith("wmsd: ")


@pytest.mark.parametrize("is_at_a_terminal", [False, True])
def test_a_file_that_grows_is_refused(
    tmp_path: Path, is_at_a_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "list.csv"
    path.write_text("code,name\nA,Apple\nB,Bo")
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_at_a_terminal)
    with (
        path.open("rb") as file,
        closing(ShownProgress("articles", file)) as progress,
        progress.source() as source,
    ):
        texts = progress.reading(lines_of(source, "utf-8"), source)
        assert next(texts) == "code,name\n"
        with path.open("a") as more:
            more.write("lt\nC,Cherry\n")
        with pytest.raises(Unreadable, match="changed while wmsd read it"):
            list(texts)
        with pytest.raises(Unreadable):
            progress.check_unchanged()


def test_a_file_that_stays_is_read(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("code,name\nA,Apple\n")
    with (
        path.open("rb") as file,
        closing(ShownProgress("articles", file)) as progress,
        progress.source() as source,
    ):
        assert list(progress.reading(lines_of(source, "utf-8"), source)) == ["code,name\n", "A,Apple\n"]


STEERING = "\x1b]0;pwned\x07\x1b[2J"


@pytest.mark.parametrize("flags", [("--preview",), ()])
def test_a_cell_does_not_steer_the_terminal(tenant: Tenant, flags: tuple[str, ...]) -> None:
    path = tenant.home.write("x.csv", f"code,name\n{STEERING},Apple\n")
    arguments: tuple[str | Path, ...] = ("import", "articles", path, "--company", tenant.code, *flags)
    for done in (at_a_terminal(tenant.home, *arguments), tenant.home.run(*arguments)):
        shown = (done.out + done.err).replace("\x1b[31m", "").replace("\x1b[0m", "")
        assert r"\x1b]0;pwned\x07\x1b[2J" in shown
        assert "\x1b]" not in shown
        assert "\x07" not in shown


def test_a_file_name_does_not_steer_the_terminal(tenant: Tenant) -> None:
    path = tenant.home.write("\x1b[31m\nx.csv", "code,name\nA,Apple\n")
    tenant.home.ok("import", "articles", path, "--company", tenant.code)
    shown = tenant.home.ok("import", "list", "--company", tenant.code).out
    assert r"\x1b[31m\nx.csv" in shown
    assert "\x1b" not in shown
    listed = tenant.home.ok("import", "list", "--company", tenant.code, "--json").json
    assert listed[0]["file_name"] == path.name
    path.write_text("nothing\n")
    refused = tenant.home.run("import", "articles", path, "--company", tenant.code)
    assert "\x1b" not in refused.err
    assert len(refused.wrong) == 1
    missing = tenant.home.run(
        "import", "articles", path, "--company", tenant.code, "--errors", "no/\x1b[31m/x.csv"
    )
    assert "\x1b" not in missing.err
