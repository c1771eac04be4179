"""Files that other users may read, files that their server may not use, and what --fix does about both."""

import dataclasses
import errno
import os
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import GOOD_DISK, NOBODY, names, situation
from tests.support.privileges import AS_ROOT
from wmsd.contract.findings import Finding, FindingKind
from wmsd.maintenance.doctor import file_modes, leftovers
from wmsd.maintenance.doctor.file_modes import FOLDER_OPEN, OPEN_TO_OTHERS, OTHER_OWNER
from wmsd.maintenance.doctor.fixes import REFUSED, fix_problem, fix_sentence


def found(data: Path) -> list[Finding]:
    return list(file_modes.findings(situation(data)))


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_files_of_the_owner_alone(open_data: Path) -> None:
    assert {mode(path) for path in open_data.rglob("*.db")} == {0o600}
    assert found(open_data) == []


@pytest.mark.parametrize("name", ["platform.db", "companies/1.db"])
@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_may_use_is_told_and_mended(open_data: Path, name: str, bits: int) -> None:
    (open_data / name).chmod(bits)
    (finding,) = found(open_data)
    assert finding.kind.name == "open-to-others"
    assert finding.remedy == f"Give access only to the owner: chmod 600 {open_data / name}"
    assert fix_sentence(finding) == f"Let only the owner read {open_data / name}."
    assert fix_problem(finding) is None
    assert mode(open_data / name) == 0o600
    assert found(open_data) == []


@pytest.mark.parametrize("name", [".", "companies", "tls", "replaced-1/companies"])
@pytest.mark.parametrize("bits", [0o777, 0o775, 0o703])
def test_a_folder_that_others_may_change_is_told_and_mended(open_data: Path, name: str, bits: int) -> None:
    folder = open_data / name
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(bits)
    (finding,) = found(open_data)
    assert finding.kind.name == "folder-open-to-others"
    assert finding.remedy == f"Give access only to the owner: chmod 700 {folder}"
    assert fix_sentence(finding) == f"Let only the owner use {folder}."
    assert fix_problem(finding) is None
    assert mode(folder) == 0o700
    assert found(open_data) == []


def with_archive(folder: Path) -> Path:
    name = "company-1-A-2026.tar.gz" if folder.name == "archive" else "wmsd-2026-11-20T023000Z.tar.gz"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).touch(mode=0o600)
    return folder


@pytest.mark.parametrize("name", ["backups", "backups/archive"])
def test_a_folder_of_backups_that_others_may_change_is_told_and_left(open_data: Path, name: str) -> None:
    """Other users may delete the backups or add a forged one, but the owner may have shared the folder on
    purpose.
    """
    folder = with_archive(open_data.parent / name)
    folder.parent.chmod(0o755)
    folder.chmod(0o777)
    (finding,) = found(open_data)
    assert (finding.kind.name, finding.path) == ("backups-open-to-others", folder)
    assert fix_sentence(finding) is None
    folder.chmod(0o755)
    assert found(open_data) == []


def test_a_shared_folder_of_backups_in_which_nobody_takes_away_what_is_another_s(open_data: Path) -> None:
    with_archive(open_data.parent / "backups").chmod(0o1777)
    assert found(open_data) == []


def test_a_folder_that_has_no_backup_of_wmsd_is_not_told_of(open_data: Path) -> None:
    folder = open_data.parent / "backups"
    (folder / "archive").mkdir(parents=True)
    (folder / "photos.tar.gz").touch()
    for each in (folder, folder / "archive"):
        each.chmod(0o777)
    assert found(open_data) == []


def test_a_link_to_a_folder_of_backups_promises_no_mending(open_data: Path) -> None:
    there = with_archive(open_data.parent / "there")
    there.chmod(0o777)
    (open_data.parent / "backups").symlink_to(there)
    (finding,) = found(open_data)
    assert (finding.kind.name, fix_sentence(finding)) == ("backups-open-to-others", None)


def test_backups_that_cannot_be_looked_at_hide_nothing_else(
    open_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder belongs to root, so the system refuses each access."""
    refused, real = open_data.parent / "closed" / "backups", Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path.is_relative_to(refused):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    config = open_data.parent / "config.toml"
    config.touch()
    config.chmod(0o666)
    at = dataclasses.replace(situation(open_data, {"backup": {"folder": refused}}), config_file=config)
    assert names(file_modes.findings(at)) == ["settings-open-to-others"]


def test_backups_in_the_data_folder_are_told_once(open_data: Path) -> None:
    folder = open_data / "backups"
    folder.mkdir()
    folder.chmod(0o777)
    told = file_modes.findings(situation(open_data, {"backup": {"folder": folder}}))
    assert names(told) == ["folder-open-to-others"]


@pytest.mark.parametrize(("bits", "is_told"), [(0o757, True), (0o1777, False), (0o755, False)])
def test_a_folder_above_that_others_may_change_is_told_and_left(open_data: Path, bits: int, is_told: bool) -> None:
    """With the sticky bit, as in /tmp, other users cannot remove files that are not theirs."""
    above = open_data.parent
    (above / "backups").mkdir(mode=0o700)
    above.chmod(bits)
    told = found(open_data)
    assert names(told) == ["folder-above-open-to-others"] * is_told
    for finding in told:
        assert finding.path == above.resolve()
        assert f"they can remove the folder {open_data}" in finding.sentence
        assert fix_sentence(finding) is None


@AS_ROOT
def test_the_group_of_a_user_alone_is_no_other(open_data: Path) -> None:
    """Many systems create a group for each user alone, and let the group write."""
    above = open_data.parent
    above.chmod(0o775)  # owner and group are root
    assert found(open_data) == []
    os.chown(above, 0, NOBODY)
    assert names(found(open_data)) == ["folder-above-open-to-others"]


@pytest.mark.parametrize(
    ("kind", "is_told"), [("vfat", False), ("exfat", False), ("fuseblk", False), ("xfs", True)]
)
def test_a_file_system_without_modes_is_not_told_of(open_data: Path, kind: str, is_told: bool) -> None:
    """A file system without modes is not reported: chmod would change nothing there."""
    (open_data / "platform.db").chmod(0o777)
    open_data.chmod(0o777)
    at = situation(open_data, file_system_of=lambda path: GOOD_DISK._replace(type=kind))
    assert names(file_modes.findings(at)) == ["open-to-others", "folder-open-to-others"] * is_told


def test_no_right_to_execute_is_left(open_data: Path) -> None:
    file = open_data / "companies" / "1.db"
    file.chmod(0o777)
    (finding,) = found(open_data)
    assert (fix_problem(finding), mode(file)) == (None, 0o600)


def test_the_archive_of_a_company_that_others_may_read(open_data: Path) -> None:
    folder = open_data.parent / "backups" / "archive"
    folder.mkdir(parents=True)
    archive = folder / "company-2-B-2026-11-20T020000.000Z.tar.gz"
    archive.write_bytes(b"x")
    archive.chmod(0o644)
    assert names(found(open_data)) == ["open-to-others"]


@pytest.mark.parametrize(("bits", "is_told"), [(0o644, False), (0o664, True), (0o666, True)])
def test_settings_that_others_may_change_are_told(open_data: Path, bits: int, is_told: bool) -> None:
    """The settings name commands that wmsd runs. Read access is harmless, unless the settings hold a secret."""
    file = open_data.parent / "config.toml"
    file.write_text("[backup]\nafter = 'true'\n")
    file.chmod(bits)
    told = list(file_modes.findings(situation(open_data, config_file=file)))
    assert [each.kind.name for each in told] == ["settings-open-to-others"] * is_told


def test_a_folder_that_nobody_may_enter_protects_what_is_in_it(open_data: Path) -> None:
    (open_data / "platform.db").chmod(0o644)
    open_data.chmod(0o700)
    assert found(open_data) == []


def test_a_backup_that_others_may_read(open_data: Path) -> None:
    folder = open_data.parent / "backups"
    folder.mkdir()
    folder.chmod(0o755)
    archive = folder / "wmsd-2026-11-20T020000Z.tar.gz"
    archive.write_bytes(b"x")
    archive.chmod(0o644)
    assert names(found(open_data)) == ["open-to-others"]


def test_a_secret_of_the_settings_is_told_and_left_as_it_is(open_data: Path) -> None:
    """Another service may share the file on purpose."""
    key = open_data.parent / "key"
    key.write_text("secret\n")
    key.chmod(0o640)
    (finding,) = file_modes.findings(situation(open_data, {"server": {"key_file": key}}))
    assert finding.kind.name == "secret-open-to-others"
    assert fix_sentence(finding) is None


@AS_ROOT
def test_a_file_of_another_user_is_told_and_given_back(open_data: Path) -> None:
    for path in [open_data, *open_data.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    assert found(open_data) == []
    path = open_data / "companies" / "2.db"
    os.chown(path, 0, 0)
    (finding,) = found(open_data)
    assert finding.sentence == (
        f"{path} belongs to the user root, but its folder belongs to the user nobody, who cannot use the file."
    )
    assert fix_problem(finding) is None
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)
    assert found(open_data) == []


@AS_ROOT
@pytest.mark.parametrize("kind", [OPEN_TO_OTHERS, FOLDER_OPEN, OTHER_OWNER])
def test_root_follows_no_link_out_of_the_folder(open_data: Path, kind: FindingKind) -> None:
    """Root follows no link out of the folder, so the owner of the folder cannot make root give away other
    files.
    """
    outside = open_data.parent / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    os.chown(open_data, NOBODY, NOBODY)
    symbolic, second_name = open_data / "8.db", open_data / "9.db"
    symbolic.symlink_to(outside)
    os.link(outside, second_name)
    assert fix_problem(kind.of(symbolic, found="", owner="")) == "too many levels of symbolic links"
    assert fix_problem(kind.of(second_name, found="", owner="")) == REFUSED
    assert (mode(outside), outside.stat().st_uid) == (0o644, 0)


@pytest.mark.parametrize(
    "name", ["platform.db.new", "companies/3.db.new-wal", "backup.json.new", "tls/served.pem.new", ".wmsd-probe"]
)
def test_what_was_never_finished_is_told_and_deleted(data: Path, name: str) -> None:
    path = data / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x")
    at = situation(data)
    assert names(leftovers.findings(at)) == [], "it may be under way"
    os.utime(path, (at.now.timestamp() - 4000, at.now.timestamp() - 4000))
    (finding,) = leftovers.findings(at)
    assert finding.sentence == (
        f"{path} was never finished, and no process uses it. Last written: 2026-11-20 11:23 UTC; size: 1 B."
    )
    assert fix_problem(finding) is None
    assert not path.exists()


def test_scratch_that_a_killed_backup_and_a_killed_doctor_have_left(data: Path) -> None:
    at = situation(data)
    at.backups.mkdir()
    left = [at.backups / ".unfinished-wmsd.tar.gz", at.temporary / "wmsd-doctor-abc"]
    left[0].write_bytes(b"x")
    left[1].mkdir()
    (left[1] / "platform.db").write_bytes(b"x")
    for path in (*left, left[1] / "platform.db"):
        os.utime(path, (0, 0))
    found = list(leftovers.findings(at))
    assert [finding.path for finding in found] == left
    assert [fix_problem(finding) for finding in found] == [None, None]
    assert [path.exists() for path in left] == [False, False]


@AS_ROOT
def test_scratch_of_another_user_is_left_alone(data: Path) -> None:
    at = situation(data)
    path = at.temporary / "wmsd-doctor-abc"
    path.mkdir()
    os.chown(path, NOBODY, NOBODY)
    os.utime(path, (0, 0))
    assert names(leftovers.findings(at)) == []
