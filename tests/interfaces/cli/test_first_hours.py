"""The commands that an admin uses in the first hours."""

import stat
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.support.command import ANY_PORT, Home
from wmsd import __version__
from wmsd.interfaces.cli.about.completion import PLACES, SHELLS
from wmsd.settings.toml_writer import example


def test_the_version_by_an_option(home: Home) -> None:
    assert home.run("--version").out == home.run("version").out == f"wmsd {__version__}\n"


def test_a_configuration_to_begin_with(home: Home) -> None:
    done = home.run("config", "init")
    file = home.folder / "config.toml"
    assert (done.code, file.read_text()) == (0, example())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "The settings have no errors." in home.ok("config", "check", env=ANY_PORT).err


def test_a_configuration_that_is_there_stays(home: Home) -> None:
    home.write("config.toml", "[server]\n")
    done = home.run("config", "init")
    assert (done.code, done.wrong) == (1, ["config.toml already exists. Nothing was changed."])
    assert (home.folder / "config.toml").read_text() == "[server]\n"
    assert home.run("config", "init", "no/such/folder.toml").code == 1


@pytest.mark.parametrize("shell", SHELLS)
def test_the_completion_is_installed_for_the_user(home: Home, shell: str, tmp_path: Path) -> None:
    for arguments, env in (((shell,), {}), ((), {"SHELL": f"/bin/{shell}"})):
        done = home.run("completion", "install", *arguments, env={"XDG_DATA_HOME": str(tmp_path), **env})
        file = tmp_path / PLACES[shell]
        assert (done.code, str(file) in done.err) == (0, True)
        assert file.read_text() == home.run("completion", "show", shell).out
        file.unlink()
    assert home.run("completion", "install", env={"SHELL": "/bin/dash"}).code == 2


def test_bash_completes_commands(home: Home) -> None:
    script = home.run("completion", "show", "bash").out
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    for words, expected in (("wmsd conf", "config"), ("wmsd config in", "init")):
        env = {"_WMSD_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        assert f"plain,{expected}" in home.run_fresh(env=env).out


@pytest.mark.parametrize(
    ("listen", "answering"),
    [("0.0.0.0:0", ["127.0.0.1"]), ("[::]:0", ["127.0.0.1", "[::1]"]), ("[0::0]:0", ["127.0.0.1", "[::1]"])],
)
def test_links_have_the_address_in_the_lan(home: Home, listen: str, answering: list[str]) -> None:
    with home.serving("--listen", listen) as server:
        assert not server.address.startswith(("http://127.", "http://0.", "http://[::"))
        assert server.get("/api/health", token="", company=None)[0] == 200
        port = server.address.rpartition(":")[2]
        for host in answering:
            with urllib.request.urlopen(f"http://{host}:{port}/api/health") as answer:
                assert answer.status == 200
        assert server.greeting[-1] == f"Guide:        {server.address}/docs"
        assert server.stop() == 0
