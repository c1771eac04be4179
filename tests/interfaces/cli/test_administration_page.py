"""The commands of the guide's page about people and companies do what it says, one after the other."""

import re
import shlex
from pathlib import Path

from tests.interfaces.cli.test_people import make
from tests.support.command import EMAIL, Home
from wmsd import docs

PAGE = (Path(docs.__file__).parent / "administration.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line, comments=True)[1:] for line in re.findall(r"^wmsd .*$", PAGE, re.MULTILINE)]


def test_each_command_works(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    home.ok("operator", "create", "OPS", "--name", "Ops")
    make(home, "ana@example.com", "--role", "member")
    assert len(COMMANDS) == 12
    for command in COMMANDS:
        if command[:2] == ["company", "rename"]:
            make(home, EMAIL, "--role", "platform-admin", "--json")
        if command[:2] == ["user", "enable"]:
            home.ok("user", "disable", command[2])
        home.ok(*command)
    assert home.ok("company", "list", "--json").json == []
    assert [each["email"] for each in home.ok("user", "list", "--json").json] == [EMAIL]
