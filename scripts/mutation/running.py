"""A run of mutmut over a group of modules, in a copy of the project, and the result for each breakage."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mutation.known import Breakage
from mutation.rooms import ROOT, Room

COPIED: Final = ("wmsd", "tests", "scripts", "data", "*.md", "*.toml", "*.txt", "*.spec", "LICENSE", ".ci")
NOT_COPIED: Final = shutil.ignore_patterns("__pycache__", "node_modules")
BESIDE: Final = ("scripts", "data", "README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", ".ci")
"""Files and folders that tests read in addition to the program. mutmut copies them next to the broken modules."""
SETTINGS: Final = """
[tool.mutmut]
source_paths = ["wmsd"]
only_mutate = {modules}
also_copy = {beside}
pytest_add_cli_args_test_selection = {tests}
track_dependencies = false
use_git_change_detection = false
timeout_multiplier = 3.0
timeout_constant = 10.0
"""


@dataclass(slots=True)
class Verdict:
    """The result for one module: the number of breakages by outcome, and the breakages that no test noticed."""

    module: str
    ends: Counter[str] = field(default_factory=Counter)
    survivors: list[Breakage] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.ends.total()

    @property
    def killed(self) -> int:
        return self.total - len(self.survivors)


def run(room: Room, modules: Sequence[str], folder: Path) -> list[Verdict]:
    """Run mutmut over the modules.

    Raise RuntimeError if it fails, for example because a test fails without any breakage.
    """
    _copy(room, modules, folder)
    log = folder / "mutmut.log"
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1"]
    environment = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / ".hypothesis")}
    with log.open("wb") as output:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
    codes = {module: _codes(module, folder) for module in modules}
    if done.returncode and any(found is None or found for found in codes.values()):
        raise RuntimeError(f"mutmut failed in {room.name}; {log} says why")
    return [_verdict(module, found or {}, folder) for module, found in codes.items()]


def _copy(room: Room, modules: Sequence[str], folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (each for pattern in COPIED for each in ROOT.glob(pattern)):
        if path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=NOT_COPIED)
        else:
            shutil.copy(path, folder)
    settings = SETTINGS.format(
        modules=json.dumps(list(modules)), beside=json.dumps(list(BESIDE)), tests=json.dumps(list(room.tests))
    )
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(settings)


def _codes(module: str, folder: Path) -> dict[str, int | None] | None:
    """Return mutmut's exit codes by the names of the breakages, or {} if the module has no breakages.

    Return None if mutmut did not process the module.
    """
    path = folder / "mutants" / f"{module}.meta"
    if not path.exists():
        return None
    codes: dict[str, int | None] = json.loads(path.read_text())["exit_code_by_key"]
    return codes


def _verdict(module: str, codes: Mapping[str, int | None], folder: Path) -> Verdict:
    from mutmut.stats import status_by_exit_code

    verdict = Verdict(module)
    for name, code in codes.items():
        end = status_by_exit_code[code]
        if end in ("survived", "no tests", "skipped", "not checked"):
            survivor = _breakage(module, name, folder)
            if survivor.is_same_sql:  # such a change breaks nothing
                continue
            verdict.survivors.append(survivor)
        verdict.ends[end] += 1
    return verdict


def _breakage(module: str, name: str, folder: Path) -> Breakage:
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    with chdir(folder):  # mutmut reads only the current directory
        shown = get_diff_for_mutant(name, path=Path(module)).splitlines()
    lines = [line for line in shown if line.startswith(("-", "+")) and not line.startswith(("---", "+++"))]
    function = name.rpartition(".")[2].rpartition("__mutmut_")[0]
    function = function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
    return Breakage(module, function, tuple(f"{line[0]} {line[1:].strip()}" for line in lines))
