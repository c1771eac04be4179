"""The warnings of `serve` at its start about an unsafe exposure to the network."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.command import Home, first_day
from wmsd.interfaces.cli.kit.exposure_warnings import risks
from wmsd.settings.all_settings import Settings


def said(home: Home, *arguments: str) -> str:
    with home.serving(*arguments) as server:
        server.stop()
        return server.log


def test_a_server_as_root_is_told_so(home: Home) -> None:
    first_day(home)
    assert ("wmsd runs as root" in said(home)) == (os.geteuid() == 0)


def test_keys_that_others_can_read_are_told_of(home: Home) -> None:
    first_day(home)
    assert "platform.db" not in said(home)
    (home.data / "platform.db").chmod(0o640)
    assert "platform.db" not in said(home), "nobody gets into the folder"
    home.data.chmod(0o755)
    assert "can read" in said(home)


@pytest.mark.parametrize(
    ("listen", "is_told"),
    [
        ("127.0.0.1:8480", False),
        ("[::1]:8480", False),
        ("localhost:8480", False),
        ("0.0.0.0:8480", True),
        ("[::]:8480", True),
    ],
)
def test_plain_http_is_told_of_where_others_can_listen(tmp_path: Path, listen: str, is_told: bool) -> None:
    settings = Settings.model_validate({"server": {"listen": listen}})
    assert any("without TLS" in sentence for sentence in risks(settings, tmp_path / "platform.db")) == is_told


def test_a_private_key_that_others_can_read_is_told_of(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("key")
    settings = Settings.model_validate({"server": {"listen": "0.0.0.0:8480", "tls": str(key)}})
    for mode, is_told in ((0o644, True), (0o600, False)):
        key.chmod(mode)
        assert any("private key" in sentence for sentence in risks(settings, tmp_path / "platform.db")) == is_told


def test_the_files_that_it_may_open_are_raised_to_what_the_system_allows(home: Home) -> None:
    import resource

    first_day(home)
    hard = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 4000)

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))

    process: subprocess.Popen[str]
    with home.start("serve", "--listen", "127.0.0.1:0", preexec_fn=few) as process:
        assert process.stdout is not None
        process.stdout.readline()
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        process.terminate()
    (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
    assert line.split()[3:5] == [str(hard), str(hard)]
