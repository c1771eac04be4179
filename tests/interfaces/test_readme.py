"""The first day of the README is typed as printed: in an empty folder, and beside the demo."""

from pathlib import Path
from typing import Final

import pytest

from tests.support.forked import ROOT, Program
from tests.support.guide_console import Console, is_shown, steps

pytestmark = pytest.mark.long
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
BEFORE_THE_DAY, DAY = README.split("## A first day")
SERVE: Final = "scripts/serve --demo"
AT_A_TERMINAL: Final = "wmsd user create "
"""The command that asks for a password, which comes from standard input here."""


@pytest.fixture(params=[False, True], ids=["empty", "beside-the-demo"])
def is_beside_the_demo(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_the_first_day(is_beside_the_demo: bool, program: Program, tmp_path: Path) -> None:
    assert SERVE in {step.command for step in steps(BEFORE_THE_DAY)}
    company_id = 2 if is_beside_the_demo else 1
    console = Console(tmp_path, program)
    try:
        if is_beside_the_demo:
            assert console.serve(SERVE.replace("scripts/serve", "wmsd serve")).code == 0
        for step in steps(DAY):
            command = step.command.replace("X-Company-Id: 1", f"X-Company-Id: {company_id}")
            if command.startswith("wmsd serve"):
                assert is_beside_the_demo or console.serve(command).code == 0
                continue
            if command.startswith(AT_A_TERMINAL):
                command = f"echo correct horse battery | {command.partition('#')[0]} --password-stdin"
            ran = console.type(command)
            assert ran.code == 0, (command, ran)
            assert step.prints is None or is_shown(step.prints, ran.printed), ran
    finally:
        console.stop()
