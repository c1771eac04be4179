"""The ways in which a company comes back."""

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.support.backups import restore
from tests.support.disaster.site import Site

Rescue = Callable[[Site, Path, bytes], None]
"""Is given an archive, and the bytes of the company's file when it was made."""


def restore_the_company(site: Site, archive: Path, older: bytes) -> None:
    restore(site.home, archive, "--company", "ACME")


def restore_the_company_beside_a_server(site: Site, archive: Path, older: bytes) -> None:
    with site.serving():
        restore(site.home, archive, "--company", "ACME")


def restore_everything(site: Site, archive: Path, older: bytes) -> None:
    restore(site.home, archive)


def restore_into_an_empty_folder(site: Site, archive: Path, older: bytes) -> None:
    shutil.rmtree(site.home.data)
    restore(site.home, archive, *site.restore_options)


def restore_a_damaged_file(site: Site, archive: Path, older: bytes) -> None:
    content = bytearray(site.file.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    site.file.write_bytes(content)
    restore(site.home, archive, "--company", "ACME")


def restore_a_lost_file(site: Site, archive: Path, older: bytes) -> None:
    site.file.unlink()
    restore(site.home, archive, "--company", "ACME")


def put_an_older_file_back(site: Site, archive: Path, older: bytes) -> None:
    site.file.write_bytes(older)


RESCUES = (
    restore_the_company,
    restore_the_company_beside_a_server,
    restore_everything,
    restore_into_an_empty_folder,
    restore_a_damaged_file,
    restore_a_lost_file,
    put_an_older_file_back,
)
