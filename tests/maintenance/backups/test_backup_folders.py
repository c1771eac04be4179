"""The folder of the backups that the server makes automatically: missing, changed, and the default one."""

import json
from pathlib import Path

import pytest

from tests.maintenance.backups.test_scheduled_backups import DAILY, installation, names, run
from tests.support.command import Home

__all__ = ["installation"]  # `installation` is a fixture


def test_a_gone_backup_is_said_and_degrades(installation: Home) -> None:
    run(installation)
    [name] = names(installation)
    (installation.folder / "data-backups").rename(installation.folder / "away")
    says = f"he verified backup, {name}, is no longer in {installation.folder / 'data-backups'}."
    for command in (("status",), ("backup", "schedule")):
        done = installation.run(*command, env=DAILY)
        assert (done.code, says in done.err) == (1, True)
    shown = installation.run("backup", "schedule", "--json", env=DAILY).json
    assert (shown["ok"], shown["last_backup"], shown["last_proof"]) == (False, None, None)
    with installation.serving(env=DAILY) as server:
        check = server.get("/api/health")[1]["checks"]["backup"]
    assert check == {"ok": False, "degraded": True, "made_at": None, "proven_at": None}


def test_another_folder_in_the_settings_has_no_backup_until_one_is_made_there(installation: Home) -> None:
    run(installation)
    new = installation.folder / "new"
    moved = {**DAILY, "WMSD_BACKUP_FOLDER": str(new)}
    said = installation.run("status", env=moved)
    old = installation.folder / "data-backups"
    assert said.code == 1
    assert f"The backup folder {new} has no backup yet: the last backup, " in said.err
    assert f"was created in the folder {old}. Fix the cause" in said.err
    assert (f"backup folder  {new}" in said.out, "restorable" in said.out) == (True, False)
    shown = installation.run("backup", "schedule", "--json", env=moved)
    assert (shown.code, shown.json["ok"], shown.json["backups"], shown.json["last_backup"]) == (1, False, 0, None)
    installation.ok("backup", "schedule", "--run", env=moved)
    shown = installation.ok("backup", "schedule", "--json", env=moved)
    assert (shown.json["backups"], shown.json["verdict"][:22]) == (1, "the backup verified at")
    assert len(names(installation)) == 1  # the earlier backup stays


@pytest.mark.parametrize("named", ["nas/backups", "nas/zzz"])
@pytest.mark.parametrize("is_absolute", [True, False])
@pytest.mark.parametrize("is_there", [True, False])
def test_the_folder_of_the_default_has_none_either(
    installation: Home, tmp_path: Path, named: str, is_absolute: bool, is_there: bool
) -> None:
    """After the setting is removed, the default folder has no backup, even if the old folder has a similar
    name.
    """
    (installation.folder / named).parent.mkdir()
    folder = installation.folder / named if is_absolute else Path(named)
    run(installation, WMSD_BACKUP_FOLDER=str(folder))
    if is_there:
        (installation.folder / "data-backups").mkdir()
    shown = installation.run("backup", "schedule", "--json", env=DAILY)
    assert (shown.code, shown.json["ok"], shown.json["last_backup"]) == (1, False, None)
    said = installation.run("status", env=DAILY)
    assert (said.code, f"backup folder  {installation.folder / 'data-backups'}," in said.out) == (1, True)
    sentence = f"The backup folder {installation.folder / 'data-backups'} has no backup yet"
    assert sentence in said.err
    elsewhere = Home(installation.program, tmp_path / "elsewhere")
    (elsewhere.folder / "data-backups").mkdir(parents=True)
    for command in (("status",), ("backup", "schedule")):
        done = elsewhere.run(*command, "--data", installation.data, env=DAILY)
        assert (done.code, sentence in done.err) == (1, True)
    run(installation)
    assert len(names(installation)) == 1
    assert (
        installation.ok("backup", "schedule", "--json", env=DAILY).json["verdict"][:22] == "the backup verified at"
    )


def test_the_schedule_makes_one_here_after_an_older_version(installation: Home) -> None:
    """The record of the older version does not say in which directory the schedule ran."""
    (installation.folder / "nas").mkdir()
    run(installation, WMSD_BACKUP_FOLDER="nas/backups")
    file = installation.data / "backup.json"
    record = json.loads(file.read_text())
    for part in ("made", "proven"):
        del record[part]["directory"]
    file.write_text(json.dumps(record))
    installation.ok("status", env={**DAILY, "WMSD_BACKUP_FOLDER": "nas/backups"})
    run(installation, WMSD_BACKUP_FOLDER="nas/backups")
    assert len(list((installation.folder / "nas" / "backups").glob("*.tar.gz"))) == 1
    run(installation)
    assert len(names(installation)) == 1


def test_a_command_with_the_settings_may_be_typed_elsewhere(installation: Home, tmp_path: Path) -> None:
    run(installation, WMSD_BACKUP_FOLDER="kept")
    elsewhere = Home(installation.program, tmp_path / "elsewhere")
    elsewhere.folder.mkdir()
    settings = {**DAILY, "WMSD_SERVER_DATA": str(installation.data)}
    kept = str(installation.folder / "kept")
    assert elsewhere.run("status", env={**settings, "WMSD_BACKUP_FOLDER": kept}).code == 0
    said = elsewhere.run("status", env={**settings, "WMSD_BACKUP_FOLDER": "kept"})
    sentence = f"The backup folder {elsewhere.folder / 'kept'} has no backup yet"
    assert (said.code, sentence in said.err) == (1, True)
