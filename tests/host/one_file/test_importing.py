import subprocess
import sys
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from wmsd.host.one_file.eager_imports import BASE, LIBRARIES, import_all, modules


def lay_down(folder: Path, *libraries: str, base: tuple[str, ...] = ()) -> None:
    for library in libraries:
        file = folder / library
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    with zipfile.ZipFile(folder / BASE, "w") as archive:
        for name in base:
            archive.writestr(name, b"")


def test_modules_have_the_names_that_they_are_imported_by(tmp_path: Path) -> None:
    own, stable, _ = EXTENSION_SUFFIXES
    lay_down(
        tmp_path,
        f"python3.11/{LIBRARIES}/_json{own}",
        f"cryptography/hazmat/bindings/_rust{stable}",
        f"_cffi_backend{own}",
        "libssl.so.3",
        base=("encodings/__init__.pyc", "encodings/idna.pyc", "locale.pyc"),
    )
    assert list(modules(tmp_path)) == [
        *("encodings", "encodings.idna", "locale"),
        *("_cffi_backend", "cryptography.hazmat.bindings._rust", "_json"),
    ]


def test_a_module_that_is_not_there_keeps_nothing_else_from_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_down(tmp_path, f"not_there{EXTENSION_SUFFIXES[0]}", base=("also_not_there.pyc", "imported_late.pyc"))
    (tmp_path / "imported_late.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    import_all(tmp_path)
    assert sys.modules.pop("imported_late").__file__ == str(tmp_path / "imported_late.py")


def test_the_first_steps_of_every_command_import_little() -> None:
    script = "import sys, wmsd.host.one_file.startup, wmsd.host.own_program; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names = set(done.stdout.split())
    assert "wmsd.host.one_file.startup" in names
    assert not names & {"asyncio", "logging", "shutil", "importlib.util"}
