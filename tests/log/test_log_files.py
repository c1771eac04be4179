"""Tests of the log in a file: its size is bounded, and a full disk harms nobody."""

import logging
import resource
from pathlib import Path

import pytest

from tests.support.log_files import lines
from tests.support.world import World
from wmsd.log import output as logs
from wmsd.maintenance.doctor.settings_files import UNWRITABLE
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sections.log import Log

LOG = logging.getLogger("wmsd.test")

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


def test_the_log_goes_on_where_it_ended(tmp_path: Path) -> None:
    for text in ("first", "second", "Țăran"):
        logs.configure(Log(file=str(tmp_path / "log")))
        LOG.info(text)
    assert lines(tmp_path / "log") == ["first", "second", "Țăran"]
    assert (tmp_path / "log").stat().st_mode & 0o007 == 0, "it says who asked for what"


def test_so_many_files_are_kept_and_none_grows_further(tmp_path: Path) -> None:
    logs.configure(Log(file=str(tmp_path / "log"), file_megabytes=1, files=3))
    for number in range(50):
        LOG.info("%d %s", number, "x" * 100_000)
    assert {path.name for path in tmp_path.iterdir()} == {"log", "log.1", "log.2"}
    kept = [line.split()[0] for name in ("log.2", "log.1", "log") for line in lines(tmp_path / name)]
    assert kept == [str(number) for number in range(20, 50)], "the latest, without a gap"
    assert max(path.stat().st_size for path in tmp_path.iterdir()) < 1_100_000


@pytest.mark.parametrize(
    ("file", "why"),
    [(".", "is a directory"), ("a\0b", "embedded null byte")],
)
def test_a_file_that_cannot_be_written_is_told_at_once(tmp_path: Path, file: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as refused:
        logs.configure(Log(file=str(tmp_path / file)))
    assert str(refused.value) == (
        f"log.file: {tmp_path / file} cannot be written: {why}. Choose another file, or use '' for standard error."
    )


def test_a_folder_that_is_not_there_is_told_as_the_check_of_the_settings_does(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        logs.configure(Log(file=str(tmp_path / "nowhere" / "log")))
    assert str(refused.value).endswith(UNWRITABLE.remedy.format(setting="log.file"))


async def test_a_full_disk_disturbs_no_request(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").symlink_to("/dev/full")
    logs.configure(Log(file=str(tmp_path / "log")))
    for _ in range(100):
        await world.call("GET", "/api/articles")
    assert capsys.readouterr().err == ""


def test_a_disk_that_has_room_again_gets_whole_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(Log(file=str(tmp_path / "log")))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        for number in range(10):
            LOG.info("a line of twenty: %d", number)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    LOG.info("back")
    assert lines(tmp_path / "log")[:2] == ["a line of twenty: 0", "a line of twenty: 1"]
    assert lines(tmp_path / "log")[-1] == "back"
    assert capsys.readouterr().err == ""
