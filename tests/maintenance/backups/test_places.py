"""A command means the same files in every directory, and files that an earlier version left elsewhere stay in
use.
"""

import json
import shutil
import time
from pathlib import Path

import pytest

from tests.support.backups import back_up
from tests.support.command import ANY_PORT, Home
from wmsd.maintenance.backups.last_runs import FILE
from wmsd.settings.toml_writer import example

DAILY = {"WMSD_BACKUP_EVERY": "day", **ANY_PORT}
NOBODY_LISTENS = {"WMSD_METRICS_LISTEN": "256.256.256.256:1"}
CREATE = ("company", "create", "ACME", "--name", "Acme", "--init")


def beside(home: Home, name: str = "elsewhere") -> Home:
    """Return a home with another current directory, like that of cron or of a user who has just signed in."""
    other = Home(home.program, home.folder / name)
    other.folder.mkdir(exist_ok=True)
    return other


def is_begun(home: Home, *arguments: str, env: dict[str, str] | None = None) -> bool:
    """Return True if `serve` creates a data folder without --create. The server then stops, because it cannot
    listen.
    """
    before = set(home.folder.glob("*/platform.db"))
    home.run("serve", "--listen", "127.0.0.1:0", *arguments, env={**NOBODY_LISTENS, **(env or {})})
    return len({*home.folder.glob("*/platform.db")} - before) == 1


def archives(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("wmsd-*.tar.gz"))


@pytest.fixture(params=["default", "relative to the file"])
def configured(request: pytest.FixtureRequest, home: Home) -> Path:
    """Return the backup folder of an installation whose data folder is named by its configuration."""
    home.folder.joinpath("etc").mkdir()
    folder = '[backup]\nfolder = "kept"\n' if request.param != "default" else ""
    home.write("etc/wmsd.toml", f'[server]\ndata = "stock"\nlisten = "127.0.0.1:0"\n{folder}')
    assert home.run(*CREATE, "--config", "etc/wmsd.toml").code == 0
    assert (home.folder / "etc" / "stock" / "platform.db").exists()
    return home.folder / "etc" / ("kept" if folder else "stock-backups")


def test_a_command_finds_the_same_from_every_directory(home: Home, configured: Path) -> None:
    assert home.run("backup", "create", "--config", "etc/wmsd.toml").code == 0
    cron, config = beside(home), home.folder / "etc" / "wmsd.toml"
    for named in ("../etc/wmsd.toml", str(config)):
        listed = cron.run("backup", "list", "--json", "--config", named)
        assert [row["backup"] for row in listed.json] == archives(configured)
    time.sleep(1.1)  # archive names have a resolution of one second
    assert cron.run("backup", "schedule", "--run", "--now", "--config", config, env=DAILY).code == 0
    assert (len(archives(configured)), list(cron.folder.iterdir())) == (2, [])
    for where in (home, cron):
        status = where.run("status", "--json", "--config", config, env=DAILY)
        assert status.code == 0, status.err
        assert status.json["backup folder"].startswith(f"{configured},")
        shown = where.run("config", "show", "--json", "--config", config).json
        assert (shown["server"]["data"], shown["backup"]["folder"]) == (
            str(home.folder / "etc" / "stock"),
            str(configured),
        )


def test_the_schedule_of_another_directory_leaves_the_health_well(home: Home, configured: Path) -> None:
    config = home.folder / "etc" / "wmsd.toml"
    with home.serving("--config", str(config), env=DAILY) as server:
        assert beside(home).run("backup", "schedule", "--run", "--now", "--config", config, env=DAILY).code == 0
        check = server.get("/api/health", token="")[1]["checks"]["backup"]
        assert check == {"ok": True}
    assert archives(configured) != []


def test_paths_of_the_environment_and_the_command_line_begin_here(home: Home) -> None:
    here = beside(home)
    home.write("wmsd.toml", '[server]\nkey_file = "key"\n[backup]\npassphrase_file = "../words"\n')
    env = {"WMSD_LOG_FILE": "wmsd.log", "WMSD_BACKUP_FOLDER": "../kept"}
    shown = here.run("config", "show", "--json", "--config", "../wmsd.toml", "--data", "d", env=env).json
    assert (shown["server"]["data"], shown["log"]["file"]) == (f"{here.folder}/d", f"{here.folder}/wmsd.log")
    assert shown["backup"]["folder"] == f"{home.folder}/kept"
    assert shown["server"]["key_file"] == f"{home.folder}/key"
    assert Path(shown["backup"]["passphrase_file"]) == home.folder.parent / "words"


def test_every_path_of_a_file_begins_there(home: Home) -> None:
    here = beside(home)
    home.write(
        "wmsd.toml",
        """
        [server]
        tls = "chain.pem"
        certificate_key = "chain.key"
        [webhooks]
        ca_file = "a.pem"
        [metrics]
        token_file = "b"
        [alerts]
        secret_file = "c"
        [log]
        file = "logs/d"
        [[sign_on.providers]]
        name = "main"
        issuer = "https://login.example.com"
        client_id = "wmsd"
        client_secret_file = "e"
        """,
    )
    shown = here.run("config", "show", "--json", "--config", home.folder / "wmsd.toml").json
    named = (
        *(shown["server"]["tls"], shown["server"]["certificate_key"], shown["webhooks"]["ca_file"]),
        *(shown["metrics"]["token_file"], shown["alerts"]["secret_file"], shown["log"]["file"]),
        shown["sign_on"]["providers"][0]["client_secret_file"],
    )
    names = ("chain.pem", "chain.key", "a.pem", "b", "c", "logs/d", "e")
    assert named == tuple(f"{home.folder}/{name}" for name in names)
    assert shown["alerts"]["ca_file"] == ""


def test_two_data_folders_side_by_side_share_no_backups(home: Home) -> None:
    for name in ("one", "two"):
        assert home.run(*CREATE, "--data", name).code == 0
        assert home.run("backup", "create", "--data", name).code == 0
    assert [len(archives(home.folder / f"{name}-backups")) for name in ("one", "two")] == [1, 1]
    (home.folder / "link").symlink_to("one")
    assert len(home.run("backup", "list", "--json", "--data", "link").json) == 1


def of_an_earlier_version(home: Home) -> Path:
    """Create an installation of an earlier version: its backups are in ./backups, and its record says that a
    server in this directory made them.
    """
    home.ok(*CREATE)
    home.ok("backup", "schedule", "--run", env=DAILY)
    old = home.folder / "backups"
    (home.folder / "data-backups").rename(old)
    (old / ".installations.json").unlink()
    record = json.loads((home.data / FILE).read_text())
    for part in ("made", "proven"):
        record[part]["path"] = str(old / Path(record[part]["path"]).name)
    (home.data / FILE).write_text(json.dumps(record))
    return old


def test_backups_of_an_earlier_version_stay_in_use(home: Home) -> None:
    old = of_an_earlier_version(home)
    sentence = (
        f"The backups of this installation are in {old}, and wmsd stores new backups there too. "
        f"The default folder is now {home.data}-backups. To settle this, "
    )
    cron = beside(home)
    for where in (home, cron):
        status = where.run("status", "--json", "--data", home.data, env=DAILY)
        assert (status.code, sentence in status.err) == (0, True), status.err
        assert status.json["backup folder"].startswith(f"{old},")
    before = archives(old)
    time.sleep(1.1)  # archive names have a resolution of one second
    assert cron.run("backup", "schedule", "--run", "--now", "--data", home.data, env=DAILY).code == 0
    assert (archives(old) > before, (home.folder / "data-backups").exists()) == (True, False)
    with home.serving(env=DAILY) as server:
        assert sentence in server.log
        assert server.get("/api/health", token="")[1]["checks"]["backup"] == {"ok": True}
    settle = status.err[status.err.index("mv ") :].splitlines()[0].split()
    assert settle[1:] == [str(old), f"{home.data}-backups"]
    old.rename(settle[2])
    settled = home.ok("status", "--json", env=DAILY)
    assert "To settle this" not in settled.err
    assert settled.json["backup folder"].startswith(f"{home.data}-backups,")


def test_the_folder_of_an_earlier_version_may_be_named(home: Home) -> None:
    old = of_an_earlier_version(home)
    home.write("config.toml", f'[backup]\nfolder = "{old}"\n')
    status = home.ok("status", "--json", env=DAILY)
    assert "To settle this" not in status.err
    assert status.json["backup folder"].startswith(f"{old},")


def test_backups_in_both_places_are_named_and_no_server_starts(home: Home) -> None:
    old = of_an_earlier_version(home)
    new = home.folder / "data-backups"
    new.mkdir()
    shutil.copy(next(old.glob("wmsd-*.gz")), new / "wmsd-2026-01-01T000000Z.tar.gz")
    refused = home.refused("serve", env=ANY_PORT)
    assert (
        str(new) in refused,
        str(old) in refused,
        "Move the archives into one of the two folders" in refused,
    ) == (
        True,
        True,
        True,
    )
    assert refused in home.ok("backup", "list").err
    (new / "wmsd-2026-01-01T000000Z.tar.gz").unlink()
    with home.serving(env=ANY_PORT) as server:
        assert server.get("/api/health", token="")[1]["status"] == "ok"


def test_a_copy_of_the_backups_elsewhere_stops_no_server(home: Home) -> None:
    """The record says where the schedule puts the backups."""
    home.ok(*CREATE)
    home.ok("backup", "schedule", "--run", env=DAILY)
    shutil.copytree(home.folder / "data-backups", home.folder / "backups")
    with home.serving(env=ANY_PORT) as server:
        assert "earlier versions" not in server.log


def test_data_of_an_earlier_version_stay_in_use(home: Home) -> None:
    """The settings file is not in the folder in which the server was started."""
    home.folder.joinpath("etc").mkdir()
    home.write("etc/wmsd.toml", '[server]\ndata = "data"\n')
    home.ok(*CREATE)
    listed = home.run("company", "list", "--config", "etc/wmsd.toml")
    assert (listed.code, f"Data folder: {home.data}\n" in listed.err, "ACME" in listed.out) == (0, True, True)
    assert f'To settle this, write the whole path into etc/wmsd.toml: data = "{home.data}"' in listed.err
    assert home.run("backup", "create", "--config", "etc/wmsd.toml").code == 0
    assert len(archives(home.folder / "data-backups")) == 1
    there = home.folder / "etc" / "data"
    assert beside(home, "etc").run(*CREATE, "--config", "wmsd.toml").code == 0
    for command in (("serve",), ("company", "list"), ("config", "check")):
        refused = home.refused(*command, "--config", "etc/wmsd.toml")
        assert (str(there) in refused, str(home.data) in refused) == (True, True)
    examined = home.run("doctor", "--config", "etc/wmsd.toml")
    assert f"There are also data in {home.data}, where earlier versions of wmsd looked" in examined.err


def test_a_file_of_an_earlier_place_stays_in_use(home: Home) -> None:
    home.folder.joinpath("etc").mkdir()
    home.write("etc/wmsd.toml", '[server]\ndata = "data"\n[backup]\npassphrase_file = "words"\n')
    home.write("words", "correct horse battery staple")
    shown = home.run("config", "show", "--json", "--config", "etc/wmsd.toml")
    assert shown.json["backup"]["passphrase_file"] == str(home.folder / "words")
    assert f"Only {home.folder / 'words'}, where earlier versions of wmsd looked, has such a file" in shown.err
    home.write("etc/words", "another horse battery staple")
    shown = home.run("config", "show", "--json", "--config", "etc/wmsd.toml")
    assert shown.json["backup"]["passphrase_file"] == str(home.folder / "etc" / "words")


def test_the_settings_in_full_mean_the_same_places(home: Home) -> None:
    home.ok(*CREATE)
    home.write("config.toml", example().replace("# folder = ", "folder = "))
    assert home.ok("config", "show", "--json").json["backup"]["folder"] == f"{home.data}-backups"


# The owner of the backups


def test_the_backups_of_another_installation_keep_none_from_beginning(home: Home) -> None:
    """A folder with backups of another installation never stops the creation of a new one."""
    assert home.run(*CREATE, "--data", "first").code == 0
    shared = home.folder / "backups"
    shared.mkdir()
    assert home.run("backup", "create", "--data", "first", "--folder", "backups").code == 0
    assert home.run(*CREATE, "--data", "second").code == 0
    named = {"WMSD_BACKUP_FOLDER": str(shared)}
    for data, env in (("third", {}), ("fourth", named), ("data", {})):
        done = home.run(*CREATE, "--data", data, env=env)
        assert (done.code, "restore" in done.err) == (0, False), done.err
    (shared / ".installations.json").unlink()  # an earlier version did not write this file
    assert home.run(*CREATE, "--data", "fifth", env=named).code == 0
    assert is_begun(home, "--data", "sixth", env=named)


def test_the_own_backups_still_keep_lost_data_from_a_new_beginning(home: Home) -> None:
    home.ok(*CREATE)
    archive = back_up(home)
    shutil.rmtree(home.data)
    (archive.parent / ".installations.json").unlink()
    archive.parent.rename(home.folder / "backups")  # an earlier version put the backups there
    refused = home.refused(*CREATE)
    assert f"{home.folder / 'backups' / archive.name} restores the data" in refused


def test_a_demo_is_gone_with_its_folder(home: Home) -> None:
    serve = ("--demo", "--data", "demo")
    config = home.folder / "demo"
    with home.serving(*serve, env=DAILY) as server:
        assert server.get("/api/health", token="")[0] == 200
    done = home.run("backup", "schedule", "--run", "--data", "demo", env=DAILY)
    assert done.code == 0, done.err
    assert len(archives(config / "backups")) == 1
    assert "backups-in-data" not in home.run("doctor", "--data", "demo", "--json").out
    with home.serving("--data", "demo", env=DAILY) as server:  # without --demo
        assert server.get("/api/health", token="")[1]["checks"]["backup"] == {"ok": True}
    (home.folder / "serve.log").unlink(missing_ok=True)
    shutil.rmtree(config)
    assert [path.name for path in home.folder.iterdir() if path.name != "serve.log"] == []
    assert is_begun(home, *serve)
    shutil.rmtree(config)
    assert is_begun(home)


def test_a_demo_in_an_installation_moves_no_backups(home: Home) -> None:
    home.ok(*CREATE)
    with home.serving("--demo", env=DAILY):
        assert not (home.data / "backups").exists()
