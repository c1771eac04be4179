"""The limits of the stored requests, in memory and in files: no company uses up the space of another."""

import os
from pathlib import Path

import pytest

from wmsd.request_history import lines as entries
from wmsd.request_history import recent
from wmsd.request_history.files import DAY, Segments
from wmsd.request_history.recent import Recent

MEGABYTE = 1_000_000


def line(place: int, size: int = 0) -> bytes:
    return f'{{"sequence":{place}}}\t{{"x":"{"x" * size}"}}\t\n'.encode()


def places(segments: Segments, company: int) -> list[int]:
    """Return the sequence numbers of the stored entries of the company, the oldest first."""
    lines = [each for segment in segments.of(company) for each in segments.read(company, segment).split(b"\n")]
    return [entry.sequence for each in lines if (entry := entries.read(each)) is not None]


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_files_keep_within_their_bound_and_lose_the_oldest(tmp_path: Path) -> None:
    segments = Segments(tmp_path, MEGABYTE)
    for place in range(1, 3001):
        segments.append(1, place, line(place, 1000))
    assert MEGABYTE * 0.8 < on_disk(tmp_path) <= MEGABYTE
    found = places(segments, 1)
    assert found == list(range(found[0], 3001)), "the newest, without a gap"


def test_whoever_has_the_most_loses_first(tmp_path: Path) -> None:
    segments = Segments(tmp_path, MEGABYTE)
    for place in range(1, 101):
        segments.append(2, place, line(place, 1000))
    for place in range(1, 5001):
        segments.append(1, place, line(place, 1000))
    assert places(segments, 2) == list(range(1, 101))
    assert on_disk(tmp_path) <= MEGABYTE


def test_many_companies_keep_within_the_bound_together(tmp_path: Path) -> None:
    segments = Segments(tmp_path, MEGABYTE)
    for place in range(1, 31):
        for company in range(1, 101):
            segments.append(company, place, line(place, 1000))
    assert on_disk(tmp_path) <= MEGABYTE
    assert segments._bytes == on_disk(tmp_path)


def test_a_new_program_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    Segments(tmp_path, MEGABYTE).append(7, 5, line(5) + line(6))
    again = Segments(tmp_path, MEGABYTE)
    assert again.last(7) == 6
    assert again.last(8) == 0
    again.append(7, 7, line(7))
    assert places(Segments(tmp_path, MEGABYTE), 7) == [5, 6, 7]


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    segments = Segments(tmp_path, MEGABYTE)
    segments.append(1, 1, line(1) + line(2)[:-4])
    segments.append(1, 3, line(3))
    assert places(segments, 1) == [1, 3]
    assert segments._bytes == on_disk(tmp_path)


def test_a_file_or_folder_that_somebody_removed_begins_anew(tmp_path: Path) -> None:
    folder = tmp_path / "requests"
    segments = Segments(folder, MEGABYTE)
    segments.append(1, 1, line(1))
    next(folder.rglob("*.jsonl")).unlink()
    assert places(segments, 1) == []
    segments.append(1, 2, line(2))
    folder.rename(tmp_path / "gone")
    segments.append(1, 3, line(3))
    assert places(segments, 1) == [3]
    assert segments._bytes == on_disk(folder)


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "requests"
    Segments(folder, MEGABYTE).append(1, 1, line(1))
    modes = [path.stat().st_mode & 0o777 for path in (folder, folder / "1", next(folder.rglob("*.jsonl")))]
    assert modes == [0o700, 0o700, 0o600]


def test_what_is_old_is_deleted_with_its_segment(tmp_path: Path) -> None:
    segments = Segments(tmp_path, MEGABYTE)
    segments.append(1, 1, line(1))
    segments.append(1, DAY + 2, line(DAY + 2))
    old, new = sorted(tmp_path.rglob("*.jsonl"), key=lambda path: int(path.stem))
    os.utime(old, (1000, 1000))
    os.utime(new, (2000, 2000))
    segments.forget(1500)
    assert places(segments, 1) == [DAY + 2]
    segments.forget(2500)
    assert (places(segments, 1), list(tmp_path.iterdir())) == ([], [])


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    segments = Segments(tmp_path, MEGABYTE)
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "notes.txt").write_text("mine")
    (tmp_path / "1" / "x.jsonl").write_text("mine")
    segments.append(1, 1, line(1))
    segments.forget(2**40)
    assert sorted(path.name for path in (tmp_path / "1").iterdir()) == ["notes.txt", "x.jsonl"]


def test_memory_keeps_the_last_of_a_company() -> None:
    kept = Recent()
    for place in range(recent.MOST + 10):
        kept.add(1, line(place))
    assert kept.of(1) == [line(place) for place in range(recent.MOST + 9, 9, -1)]


def test_memory_keeps_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST_BYTES_OF_A_COMPANY", 10_000)
    monkeypatch.setattr(recent, "MOST_BYTES", 50_000)
    kept = Recent()
    for place in range(100):
        for company in range(20):
            kept.add(company, line(place, 500))
        assert kept._bytes == sum(len(each) for company in range(20) for each in kept.of(company))
        assert kept._bytes <= 50_000
        assert sum(map(len, kept.of(19))) <= 10_000
    for place in range(100, 120):
        for company in range(15, 20):
            kept.add(company, line(place, 500))
    assert [company for company in range(20) if kept.of(company)] == list(range(15, 20)), "the last that asked"
    assert kept.of(19)[0] == line(119, 500)
