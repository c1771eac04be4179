"""Tests of `scripts/bench --against REVISION`: its output if the other revision cannot be measured."""

import subprocess
from pathlib import Path

import pytest

from benchmarks import revisions
from benchmarks.compared_rows import LIMIT, Row, table
from benchmarks.processes import Failed
from benchmarks.revisions import LOCK, Checkout, checked_out, last_release


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository that replaces this one."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    monkeypatch.setattr(revisions, "ROOT", root)
    return root


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com")
    subprocess.run(["git", *who, *words], cwd=root, check=True)


def commit(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "x")


def refusal(revision: str, beside: Path) -> str:
    with pytest.raises(Failed) as failed, checked_out(revision, beside):
        pass
    return str(failed.value)


def test_a_revision_that_is_none(repository: Path, tmp_path: Path) -> None:
    commit(repository, {LOCK: ""})
    assert refusal("nothing-there", tmp_path) == (
        "This repository has no revision nothing-there. To list the revisions: git log --oneline"
    )


def test_one_from_before_the_lock(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"README.md": ""})
    assert "is too old for the present setup of wmsd" in refusal("HEAD", tmp_path)


def test_one_whose_setup_fails(repository: Path, tmp_path: Path) -> None:
    commit(repository, {LOCK: "other packages", "scripts/setup": "#!/bin/sh\necho no network >&2\nexit 1\n"})
    (repository / LOCK).write_text("")
    assert refusal("HEAD", tmp_path) == "HEAD cannot be set up:\nno network\n"


def test_one_whose_server_does_not_start(tmp_path: Path) -> None:
    other = Checkout("HEAD~9", tmp_path, Path("/bin/false"))
    with pytest.raises(Failed, match="does not listen"), other.serving(tmp_path / "data", {}):
        pass
    with pytest.raises(Failed, match="wmsd company list of HEAD~9 ended with 1"):
        other.wmsd(tmp_path / "data", "company", "list")


def test_the_last_release_is_found_by_its_version(repository: Path) -> None:
    changes = "# Changes\n\n## 1.0.0 \N{EN DASH} 2026-11-23\n\n## 0.9.0 \N{EN DASH} 2026-11-20\n"
    for version in ("0.9.0", "1.0.0"):
        commit(repository, {"CHANGELOG.md": changes, "wmsd/__init__.py": f'__version__ = "{version}"\n'})
    cut = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, text=True, capture_output=True, check=True)
    next_one = {"CHANGELOG.md": f"## Unreleased\n\n{changes}", "wmsd/__init__.py": '__version__ = "1.1.0-dev"\n'}
    commit(repository, next_one)
    assert cut.stdout.startswith(last_release())
    (repository / "CHANGELOG.md").write_text(f"## 1.1.0 \N{EN DASH} 2026-11-28\n\n{changes}")
    (repository / "wmsd/__init__.py").write_text('__version__ = "1.1.0"\n')
    assert cut.stdout.startswith(last_release())  # during a release, the last release is the one before


def test_a_repository_without_a_release(repository: Path) -> None:
    commit(repository, {"CHANGELOG.md": "# Changes\n\n## Unreleased\n", "wmsd/__init__.py": ""})
    with pytest.raises(Failed, match="This repository has no release yet"):
        last_release()


def test_the_table_says_what_is_dearer_and_what_nobody_can_say() -> None:
    rows = [
        Row("same", [100.0, 101.0, 100.0]),
        Row("dearer", [106.0, 107.0, 100.0]),
        Row("cheaper", [50.0, 50.5, 100.0]),
        Row("noisy", [100.0, 100.0 * (1 + (LIMIT - 1) / 2) + 1, 100.0]),
    ]
    assert [row.verdict for row in rows] == ["", "dearer", "", "too noisy"]
    _, *shown = table(rows, "HEAD~1").splitlines()
    assert shown[2].split() == ["dearer", "100", "106", "1.060", "1.009", "dearer"]
