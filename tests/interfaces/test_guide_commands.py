"""Every command in the pages for the operators of wmsd is typed, one after the other, and prints the documented
output.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.support.forked import Program
from tests.support.guide_console import CONSOLE, Console, Ran, Step, blocks, is_shown, steps
from tests.support.read_settings import load_settings
from wmsd import docs
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS
from wmsd.interfaces.guide.contents import READERS

pytestmark = pytest.mark.long
FOLDER: Final = Path(docs.__file__).parent
PAGES: Final = {
    name: (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for name in READERS[0].pages
    if (FOLDER / f"{name}.md").exists()
}
NEEDS_AN_INIT: Final = "It changes the services of the machine: tests/test_service.py."
NEEDS_AN_EXECUTABLE: Final = "It replaces an executable: tests/test_upgraded_executable.py."
OF_THE_REPLICA: Final = "It goes on beside the server: tests/maintenance/replica/test_replica.py."
NOT_TYPED: Final = {
    "sudo -u wmsd env ": "It opens a shell, in which the commands after it are typed.",
    "sudo ./wmsd service install --dry-run": NEEDS_AN_INIT,
    "sudo apt ": NEEDS_AN_INIT,
    "wmsd service status": NEEDS_AN_INIT,
    "wmsd upgrade": NEEDS_AN_EXECUTABLE,
    "litestream replicate": OF_THE_REPLICA,
    "wmsd replica restore": OF_THE_REPLICA,
    "wmsd recovery-phrase check": "It asks for the words: tests/maintenance/keys/test_recovery_phrase.py.",
    "age --decrypt": "It asks for the passphrase: tests/maintenance/backups/test_create_backup.py.",
}
"""The commands that are not typed, by their beginning, and the reason."""
STARTS: Final = ("sudo ./wmsd service install", "sudo wmsd service install", "sudo systemctl enable --now wmsd")
STOPS: Final = ("sudo systemctl disable --now wmsd",)
"""The commands that start and stop the service of a machine; the test starts and stops a server instead."""
GOES_ON: Final = ("wmsd status --watch", "wmsd logs --company ACME --follow")
"""The commands that run until Ctrl-C."""
MAY_WARN: Final = "wmsd doctor"
"""The command whose warnings depend on the machine of the test."""
WARNINGS: Final = re.compile(r"^Warning: .*\n(?:  .*\n)*|, \d+ warnings?(?=\.$)", re.MULTILINE)
"""The warnings that this command prints, and their number."""
FINDS: Final = "Error: "
"""The text in a page's output after which the command must exit with 1."""

NEW_USER: Final = "echo correct horse battery | wmsd user create {} --password-stdin --role"
ACME: Final = ("wmsd company create ACME --name 'Acme Trading' --all-modules --init",)
SHOP: Final = (
    *ACME,
    *(
        "printf 'code,name\\nMAIN,Main hall\\n' | wmsd import warehouses - --company ACME",
        "printf 'code,name\\nBOX,Box\\n' | wmsd import articles - --company ACME",
        "printf 'article_code,warehouse_code,quantity\\nBOX,MAIN,40\\n' | wmsd import stock - --company ACME",
    ),
)
PASSPHRASE: Final = "umask 077; echo correct horse battery staple > "
BEFORE: Final[Mapping[str, Sequence[str]]] = {
    "quick-start": ("ln -s $(command -v wmsd) wmsd",),
    "running": ACME,
    "administration": (
        *ACME,
        "wmsd operator create OPS --name Ops",
        f"{NEW_USER.format('ana@example.com')} member",
    ),
    "people": (*ACME, f"{NEW_USER.format('chief@example.com')} platform-admin", "wmsd serve"),
    "importing": (
        *SHOP,
        "printf 'article_code;warehouse_code;quantity\\nBOX;MAIN;12,5\\n' > list.csv",
    ),
    "backup": (
        *SHOP,
        f"{PASSPHRASE}words",
        "mkdir -p /mnt/usb",
        f"{NEW_USER.format('chief@example.com')} platform-admin",
        f"{NEW_USER.format('leaver@example.com')} company-admin --company ACME",
        "wmsd token create --user chief@example.com --ability '*' --name 'nightly sync'",
    ),
    "monitoring": (*ACME, "wmsd serve"),
    "doctor": (*SHOP, "wmsd company create BETA --name Beta --all-modules", "mv data/companies/2.db elsewhere"),
    "disk-full": (*SHOP, "wmsd backup create", "wmsd serve"),
    "moving": (*SHOP, f"{PASSPHRASE}passphrase", "mkdir -p /mnt/usb", "wmsd serve"),
    "replica": ACME,
    "kernel": ACME,
}
"""The commands that prepare the folder before the test follows a page."""
BETWEEN: Final[Mapping[tuple[str, str], Sequence[str]]] = {
    ("administration", "wmsd user enable"): ("wmsd user disable ana.pop@example.com",),
    ("quick-start", "rm -r demo"): STOPS,
    ("backup", "wmsd backup restore data-backups/wmsd-2026-11-23T023000Z.tar.gz --company ACME"): (
        "wmsd backup create data-backups/wmsd-2026-11-23T023000Z.tar.gz --passphrase-file words",
        "wmsd serve",
    ),
    ("backup", "wmsd backup restore data-backups/wmsd-2026-11-23T023000Z.tar.gz  "): STOPS,
    ("backup", "wmsd recovery list  "): (
        "rm -rf data",
        "wmsd backup restore data-backups/wmsd-2026-11-23T023000Z.tar.gz --new-keys",
    ),
    ("backup", "wmsd company import"): ("wmsd company rename ACME ACME-OLD",),
    ("backup", "wmsd company clone"): ("wmsd company rename ACME ACME-NEW", "wmsd company rename ACME-OLD ACME"),
    ("backup", "mkdir unpacked"): ("cp data-backups/wmsd-2026-11-23T023000Z.tar.gz .",),
    ("moving", "wmsd backup restore /mnt/usb/wmsd-last.tar.gz"): ("rm -r new-data",),
    ("moving", "sudo systemctl enable --now wmsd"): ("rm -r data && mv new-data data",),
    ("moving", "cp -a data copy-of-data"): STOPS,
}
"""The steps that the page describes elsewhere; they run before the command with this beginning."""

OF_SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "replica": {"WMSD_REPLICA_ENABLED": "true"},
    "running": {"WMSD_LOG_FILE": "wmsd.log"},
    "monitoring": {"WMSD_ALERTS_COMMAND": "/bin/cat"},
}
CONFIGURED: Final = "quick-start"
"""The page that starts with settings."""


@pytest.mark.parametrize("page", PAGES)
def test_each_command_works_and_prints_what_the_page_shows(page: str, program: Program, tmp_path: Path) -> None:
    wanted = steps(PAGES[page])
    if not wanted:
        pytest.skip("it shows no command")
    console = Console(tmp_path, program, dict(OF_SETTINGS.get(page, {})))
    if page == CONFIGURED:
        console.configure(next(block.text for block in blocks(PAGES[page]) if block.language == "toml"))
    try:
        for command in BEFORE.get(page, ()):
            _typed(console, command)
        for step in wanted:
            for command in _between(page, step.command):
                _typed(console, command)
            if not _is_in(step.command, NOT_TYPED):
                _follow(console, step)
    finally:
        console.stop()


def _follow(console: Console, step: Step) -> None:
    ran = _ran(console, step.command)
    assert ran.code in ((1,) if FINDS in (step.prints or "") else _codes(step.command)), (step, ran)
    printed = WARNINGS.sub("", ran.printed) if step.command.startswith(MAY_WARN) else ran.printed
    assert step.prints is None or is_shown(step.prints, printed), (step, ran.printed)


def _typed(console: Console, command: str) -> Ran:
    ran = _ran(console, command)
    assert ran.code in _codes(command), (command, ran)
    return ran


def _codes(command: str) -> Sequence[int]:
    return (0, ONLY_WARNINGS) if command.startswith(MAY_WARN) else (0,)


def _ran(console: Console, command: str) -> Ran:
    if _is_in(command, STOPS):
        console.stop()
        return Ran(0, "")
    if _is_in(command, STARTS):
        return console.serve()
    if _is_in(command, ("wmsd serve", "./wmsd serve")):
        return console.serve(command)
    return console.look(command) if _is_in(command, GOES_ON) else console.type(command)


def _between(page: str, command: str) -> Sequence[str]:
    return [
        each
        for (where, begin), ones in BETWEEN.items()
        if where == page and command.startswith(begin)
        for each in ones
    ]


def _is_in(command: str, beginnings: "Sequence[str] | Mapping[str, str]") -> bool:
    return any(command.startswith(each) for each in beginnings)


def test_nothing_is_declared_in_vain() -> None:
    typed = [(page, step.command) for page, text in PAGES.items() for step in steps(text)]
    commands = [command for _, command in typed]
    for begin in (*NOT_TYPED, *STARTS, *STOPS, *GOES_ON):
        assert any(command.startswith(begin) for command in commands), begin
    for page, begin in BETWEEN:
        assert any(command.startswith(begin) for where, command in typed if where == page), begin
    assert len(commands) > 100


@pytest.mark.parametrize("page", PAGES)
def test_each_block_says_what_it_is(page: str) -> None:
    proxies = {"nginx", "apache", "caddy", "haproxy"}  # tests/interfaces/test_reverse_proxies.py runs these
    known = {CONSOLE, "toml", "yaml", "text", "json", "bash", *proxies}
    assert {block.language for block in blocks(PAGES[page])} <= known


@pytest.mark.parametrize("page", PAGES)
def test_settings_are_settings(page: str, tmp_path: Path) -> None:
    for block in blocks(PAGES[page]):
        if block.language == "toml":
            file = tmp_path / "config.toml"
            file.write_text(block.text, encoding="utf-8")
            assert load_settings(file, environment={}) is not None


def test_what_is_printed_is_compared_line_by_line() -> None:
    assert is_shown("a … c\n…\nz", "Data folder: /x\na b c\nd\ne\nz\n")
    assert not is_shown("a … c", "a b c\nd\n")
    assert not is_shown("a", "b")
