"""Tests of files that a server reads again and again: a file without an end is refused before it is opened."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from wmsd.base.machine.regular_files import NOT_REGULAR, check_regular
from wmsd.base.machine.secret_files import read_scrape_token, read_signing_secret
from wmsd.data_folder.key_file import secrets_in
from wmsd.db.engine.failures import StorageError
from wmsd.http_client.trusted_authorities import AuthoritiesError, dialling_context


def test_what_has_an_end(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch()
    link.symlink_to(file)
    check_regular(file)
    check_regular(link)


def test_what_has_none(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, Path("/dev/zero")):
        with pytest.raises(OSError, match=NOT_REGULAR):
            check_regular(path)
    with pytest.raises(IsADirectoryError):
        check_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        check_regular(tmp_path / "nothing")


@pytest.mark.parametrize("read", [read_scrape_token, read_signing_secret, secrets_in])
def test_secrets_are_read_from_regular_files(read: Callable[[Path], object]) -> None:
    with pytest.raises((OSError, StorageError), match=NOT_REGULAR):
        read(Path("/dev/null"))


def test_authorities_are_read_from_regular_files() -> None:
    with pytest.raises(AuthoritiesError) as refused:
        dialling_context("/dev/null")
    assert NOT_REGULAR in str(refused.value.__cause__)
