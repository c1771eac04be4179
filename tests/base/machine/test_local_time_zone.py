"""Tests of the machine's time zone, as TZ, /etc/localtime or /etc/timezone name it."""

from pathlib import Path

import pytest

from wmsd.base.machine.local_time_zone import machine_time_zone


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Europe/Bucharest", "Europe/Bucharest"),
        (":Europe/Bucharest", "Europe/Bucharest"),
        (":/usr/share/zoneinfo/Europe/Bucharest", "Europe/Bucharest"),
        ("", "UTC"),
        ("EET-2EEST,M3.5.0/3,M10.5.0/4", None),
        ("Mars/Olympus_Mons", None),
        ("../../etc/passwd", None),
    ],
)
def test_tz_says_it_before_all_else(root: Path, said: str, name: str | None) -> None:
    (root / "etc/localtime").symlink_to("/usr/share/zoneinfo/Asia/Tokyo")
    assert machine_time_zone({"TZ": said}, root) == name


@pytest.mark.parametrize(
    "target",
    ["/usr/share/zoneinfo/Asia/Tokyo", "../usr/share/zoneinfo/Asia/Tokyo", "/usr/share/zoneinfo/posix/Asia/Tokyo"],
)
def test_the_link_names_it_also_where_its_file_is_missing(root: Path, target: str) -> None:
    (root / "etc/timezone").write_text("Europe/Paris\n")
    (root / "etc/localtime").symlink_to(target)
    assert machine_time_zone({}, root) == "Asia/Tokyo"


def test_a_copied_file_has_its_name_beside_it(root: Path) -> None:
    (root / "etc/localtime").write_bytes(b"TZif2")
    assert machine_time_zone({}, root) is None
    (root / "etc/timezone").write_text("Europe/Paris\n")
    assert machine_time_zone({}, root) == "Europe/Paris"


@pytest.mark.parametrize("noted", [b"", b"\xff\xfe", b"Nowhere/Else\n", b"x" * 100_000])
def test_nothing_that_can_be_used_is_no_zone(root: Path, noted: bytes) -> None:
    assert machine_time_zone({}, root) is None
    (root / "etc/timezone").write_bytes(noted)
    assert machine_time_zone({}, root) is None
