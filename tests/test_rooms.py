"""Tests that the source tree shows the architecture: small folders, names that can be searched, and a place for
each thing.

The lists of exceptions only get shorter: a test fails if an exception is no longer needed.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import MagicMock

import pytest

import room_map
from wmsd.interfaces.cli.main import COMMANDS
from wmsd.interfaces.pages import routes as page_routes
from wmsd.settings.all_settings import sections

PACKAGE: Final = room_map.PACKAGE
MODULES: Final = sorted(PACKAGE.rglob("*.py"))
MOST_FILES: Final = 30
"""The most files in one folder."""
FEWEST_LINES, MOST_LINES = 40, 400
LONGEST_SENTENCE: Final = 92
FIELD_WORDS: Final = re.compile(
    "billing|decoding|lending|masking|packaging|planning|posting|rendering|routing|sampling|sending|signing|staging|"
    "tracking"
)
"""Words of the field that end like participles."""
ROOM_FILES: Final = re.compile(
    "schema|rules|store|actions|checks|imports|kind|pages|routes|tracking_obstacles|__init__"
)
"""File names that mean the same in each package."""
SHORT: Final = {
    "base/bech32.py": "a format of its own: BIP 173",
    "contract/history_cuts.py": "a model that several answers declare",
    "db/engine/wal_frames.py": "a format of SQLite's, read in three places",
    "db/files/other_users.py": "only db may open a file",
    "db/migrations/digests.py": "data that grow with each migration",
    "interfaces/guide/settings_page.py": "a page that is made of declarations, as columns_page.py",
    "interfaces/http/loop_time.py": "an awaitable that only measures",
    "interfaces/pages/admin/settings.py": "a page",
    "interfaces/pages/people/rights.py": "a page",
    "interfaces/pages/people/try_sign_on.py": "a page",
    "interfaces/pages/webhooks/event.py": "a page",
}
"""Files under 40 lines that only one package uses, with the reason why they are separate files."""
WRITES: Final = re.compile(
    r"\b(?:INSERT (?:OR \w+ )?INTO|UPDATE|DELETE FROM)\s+([a-z_]+)\b(?=\s*(?:\(|SET|WHERE|AS|SELECT|\n|\"|$))"
)
WRITES_ELSEWHERE: Final = {
    "data_folder/continue_numbers.py": "a restore keeps access revoked that the replaced file had revoked",
    "data_folder/new_epoch.py": "an epoch moves every number of the file",
    "events/outbox/events.py": "counts the event that it writes",
    "events/webhooks/company_moves.py": "what a copy of a company loses of its webhooks",
    "events/webhooks/deliveries/redelivery.py": "queues deliveries again by the filters of the log",
    "events/webhooks/missing_credentials.py": "one column, which a restore sets",
    "events/webhooks/retention.py": "deletes what is old",
    "imports/similar_codes.py": "tables of an import, gone with it",
    "maintenance/backups/platform_copy.py": "empties what a copy must not have",
    "server/missing_credentials.py": "tasks after a restore, from the companies' files",
    "tenants/accounts/second_factors.py": "the recovery codes of a second factor",
    "tenants/accounts/user_rights.py": "writes the reach of before to sessions and tokens",
    "tenants/keys/recovery_phrases.py": "whether a phrase was declined",
    "tenants/recovery/losses.py": "creates the list of tasks after a restore",
    "tenants/recovery/restore_note.py": "notes a restore in the restored file",
    "warehouse/articles/undo_article_import.py": "keeps the search index with the articles",
    "warehouse/documents/change_history.py": "who changed a document",
    "warehouse/stock/lots.py": "a serial is of a lot",
    "warehouse/stock/stock_reservations.py": "the one way to reserve, by balance, lot and serial",
}
"""Files that write to a table that does not have their name, with the reason."""
VERBS: Final = frozenset({"confirm", "note"})
"""Verbs of the command line that are part of every file of commands."""
NO_NAMES: Final = frozenset(
    {"told", "shown", "kept", "look", "house", "trouble", "troubles", "mistake", "mistakes"}
)
"""Words that do not say what a function returns."""
STILL_NAMED: Final = frozenset({"look_at_upload", "look_for_demo", "look_for_first_admin"})
"""Operations with such words in names that the request history already contains."""
COMMAND_FILES: Final = {"import": "import_export", "export": "import_export", "graphql": "graphql_schema"}
"""Commands whose names are taken by Python or by a package."""
PARAMETER: Final = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
"""A parameter of an address. The pattern of a parameter may contain braces too."""
OTHER_ADDRESSES: Final = {
    "admin/health.py": "/backups and /jobs have its form",
    "kit/assets.py": "/pages/… has what pages load",
    "people/first_run.py": "/first-admin and /demo lead to /start, step by step",
    "people/invitation.py": "/welcome says nothing to whoever looks for it",
    "people/sign_in.py": "/second-step and /sign-out are parts of it",
    "people/sign_on.py": "/sign-in/… names a provider",
    "people/try_sign_on.py": "/sign-on/try, which try.py does not say",
    "records/parts.py": "/lots and /serials are parts of an article's goods",
    "webhooks/redeliver.py": "/again says nothing without what stands before it",
    "work/import_files.py": "/imports/…, whose name means something else in each room",
}
"""Files of pages that serve addresses without their names, with the reason."""


def path_of(module: Path) -> str:
    return str(module.relative_to(PACKAGE))


def lines_of(module: Path) -> int:
    return len(module.read_text(encoding="utf-8").splitlines())


def test_the_map_is_that_of_the_rooms() -> None:
    """The map in the architecture page matches the packages. `scripts/map` writes it."""
    found = room_map.MAP.search(room_map.PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == room_map.drawn()


def test_the_page_about_the_architecture_is_short() -> None:
    assert lines_of(room_map.PAGE) < 300


@pytest.mark.parametrize("room", room_map.rooms(), ids=path_of)
def test_a_room_says_in_a_sentence_what_it_is(room: Path) -> None:
    sentence = room_map.sentence_of(room)
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert len(sentence) <= LONGEST_SENTENCE


def test_no_folder_holds_more_than_one_sees_at_once() -> None:
    folders = Counter(path_of(module.parent) for module in MODULES if module.name != "__init__.py")
    assert {folder: number for folder, number in folders.items() if number > MOST_FILES} == {}


def test_a_module_is_named_by_a_noun_or_by_the_verb_of_its_command() -> None:
    ends = {path_of(module): module.stem.rpartition("_")[2] for module in MODULES}
    assert [
        path for path, end in ends.items() if end.endswith(("ed", "ing")) and not FIELD_WORDS.fullmatch(end)
    ] == []


def test_the_name_of_a_module_is_there_once_in_its_top_room() -> None:
    named = defaultdict(list)
    for module in MODULES:
        parts = module.relative_to(PACKAGE).parts
        top = parts[:2] if parts[0] == "interfaces" else parts[:1]
        if not ROOM_FILES.fullmatch(module.stem):
            named[(*top, module.stem)].append(path_of(module))
    assert [paths for paths in named.values() if len(paths) > 1] == []


def users() -> dict[str, set[str]]:
    """Return the packages that import each module."""
    known = {".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts): module for module in MODULES}
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for dotted in (node.module, *(f"{node.module}.{each.name}" for each in node.names)):
                    if dotted in known:
                        found[path_of(known[dotted])].add(path_of(module.parent))
    return found


def test_a_short_file_has_users_in_two_rooms_or_its_reason() -> None:
    commands = {f"interfaces/cli/{module.replace('.', '/')}.py" for module, _ in COMMANDS.values()}
    used_by = users()
    short = {
        path
        for module in MODULES
        if lines_of(module) < FEWEST_LINES
        and not ROOM_FILES.fullmatch(module.stem)
        and module.name != "__main__.py"
        and (path := path_of(module)) not in commands
        and not path.startswith("settings/sections/")
        and len(used_by[path]) < 2
    }
    assert short == set(SHORT)


def test_no_file_is_longer_than_one_reads_in_one_sitting() -> None:
    assert [path_of(module) for module in MODULES if lines_of(module) > MOST_LINES] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_in_the_file_of_its_name(command: str) -> None:
    name = COMMAND_FILES.get(command, command.replace("-", "_"))
    module = COMMANDS[command][0]
    assert module.rpartition(".")[2] in (name, f"{name}s", f"{name.removesuffix('y')}ies")
    assert (PACKAGE / "interfaces" / "cli" / f"{module.replace('.', '/')}.py").is_file()


def page_handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """Yield the address of each page, and the file of its handler in the package of pages."""
    found: list[tuple[str, Any]] = []
    monkeypatch.setattr(
        page_routes, "add_visited", lambda _, __, ___, path, handler: found.append((path, handler))
    )
    monkeypatch.setattr(page_routes, "add_page", lambda _, __, path, handler: found.append((path, handler)))
    page_routes.add_to(MagicMock(), MagicMock(), MagicMock())
    for path, handler in found:
        while isinstance(handler, partial):
            handler = handler.args[-1] if handler.func is page_routes._answered else handler.func
        yield path, f"{handler.__module__.removeprefix('wmsd.interfaces.pages.').replace('.', '/')}.py"


def test_a_page_is_in_the_file_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is in the file of its name: a part of its address has the name.

    An address of only parameters, such as that of a record, has no name.
    """
    others = set()
    for path, file in page_handlers(monkeypatch):
        parts = PARAMETER.sub("", path.removeprefix(page_routes.A_COMPANY).removeprefix(page_routes.ADMIN))
        names = {part.partition(".")[0].replace("-", "_") for part in parts.split("/")} - {""}
        stem = Path(file).stem
        if names and not names & {stem, f"{stem}s", f"{stem.removesuffix('y')}ies", stem.removesuffix("s")}:
            others.add(file)
    assert others == set(OTHER_ADDRESSES)


@pytest.mark.parametrize("section", sections())
def test_a_section_of_the_settings_is_in_the_file_of_its_name(section: str) -> None:
    assert sections()[section].__module__ == f"wmsd.settings.sections.{section}"


def test_a_table_is_written_in_a_store_or_in_the_file_of_its_name() -> None:
    others = {
        path_of(module)
        for module in MODULES
        if not module.stem.endswith(("store", "checks", "staging")) and not path_of(module).startswith("db/")
        for table in WRITES.findall(module.read_text(encoding="utf-8"))
        if table.removesuffix("s") not in module.stem and module.stem not in table
    }
    assert others == set(WRITES_ELSEWHERE)


def functions() -> dict[str, list[str]]:
    """Return the public functions of each module, by its dotted name."""
    found = {}
    for module in MODULES:
        dotted = ".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        body = ast.parse(module.read_text(encoding="utf-8")).body
        named = (node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        found[dotted] = [name for name in named if not name.startswith("_")]
    return found


def test_a_function_that_is_imported_by_its_name_can_be_searched() -> None:
    """A function that is imported by name can be searched.

    Its name has more than one word, or is a verb or a noun that no other function has.
    """
    known = functions()
    times = Counter(name for names in known.values() for name in names)
    imported = {
        f"{node.module}.{each.name}"
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
        if each.name in known.get(node.module, ())
    }
    short = {dotted: dotted.rpartition(".")[2] for dotted in imported if "_" not in dotted.rpartition(".")[2]}
    assert [
        dotted
        for dotted, name in sorted(short.items())
        if name not in VERBS and (times[name] > 1 or name.endswith(("ed", "ing")))
    ] == []


def test_a_function_is_named_by_what_it_gives_or_does() -> None:
    names = {name for names in functions().values() for name in names}
    assert {name for name in names if NO_NAMES & set(name.split("_"))} == STILL_NAMED
