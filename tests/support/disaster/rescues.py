"""The ways in which a company can be restored."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.backups import restore
from tests.support.disaster.site import Seal, Site
from tests.support.litestream import PROGRAM


@dataclass(frozen=True)
class Saved:
    """The files that a site has outside of its data folder when the disaster happens."""

    archive: Path
    older: bytes
    """The company's file at the time of the archive."""
    replica: Path | None = None


@dataclass(frozen=True)
class Rescue:
    """A way to restore a company.

    If `loses`, the changes after the backup are lost. If `cuts`, a new epoch of the company's history begins. If
    `anew`, the recovery list has entries. If `platform_is_lost`, the keys come from the backup, if it has them.
    """

    act: Callable[[Site, Saved], None]
    loses: bool = True
    cuts: bool = True
    anew: bool = False
    platform_is_lost: bool = False
    is_elsewhere: bool = False
    """The company is now in another installation, with other keys."""
    by_replica: bool = False

    @property
    def name(self) -> str:
        return self.act.__name__

    def loses_keys(self, seal: Seal) -> bool:
        return self.is_elsewhere or (self.platform_is_lost and seal == "nothing")


def restore_the_company(site: Site, saved: Saved) -> None:
    restore(site.home, saved.archive, "--company", "ACME")


def restore_the_company_beside_a_server(site: Site, saved: Saved) -> None:
    with site.serving():
        restore(site.home, saved.archive, "--company", "ACME")


def restore_everything(site: Site, saved: Saved) -> None:
    restore(site.home, saved.archive)


def restore_into_an_empty_folder(site: Site, saved: Saved) -> None:
    shutil.rmtree(site.home.data)
    restore(site.home, saved.archive, *site.restore_options)


def restore_a_damaged_file(site: Site, saved: Saved) -> None:
    content = bytearray(site.file.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    site.file.write_bytes(content)
    restore(site.home, saved.archive, "--company", "ACME")


def restore_a_lost_file(site: Site, saved: Saved) -> None:
    site.file.unlink()
    restore(site.home, saved.archive, "--company", "ACME")


def put_an_older_file_back(site: Site, saved: Saved) -> None:
    site.file.write_bytes(saved.older)


def restore_only_platform(site: Site, saved: Saved) -> None:
    for path in site.home.data.glob("platform.db*"):
        path.unlink()
    restore(site.home, saved.archive, "--only-platform", *site.restore_options)


def take_over_the_replica(site: Site, saved: Saved) -> None:
    assert saved.replica is not None
    shutil.rmtree(site.home.data)
    site.home.ok("replica", "restore", saved.replica, "--litestream", PROGRAM)


def move_to_another_installation(site: Site, saved: Saved) -> None:
    """Move the frozen company to another installation, so that nothing is lost.

    The site then uses the other installation.
    """
    other = site.new_installation()
    site.home.ok("company", "move", "ACME", "--to", other.data)
    site.settle_in(other)


RESCUES: Final = (
    Rescue(restore_the_company),
    Rescue(restore_the_company_beside_a_server),
    Rescue(restore_everything),
    Rescue(restore_into_an_empty_folder, anew=True, platform_is_lost=True),
    Rescue(restore_a_damaged_file),
    Rescue(restore_a_lost_file),
    Rescue(put_an_older_file_back),
)
"""Rescues that each lose what came after the backup."""
EMPTY_FOLDER: Final = next(each for each in RESCUES if each.act is restore_into_an_empty_folder)
EVERYTHING: Final = next(each for each in RESCUES if each.act is restore_everything)
OTHER_RESCUES: Final = (
    Rescue(restore_only_platform, loses=False, cuts=False, anew=True, platform_is_lost=True),
    Rescue(take_over_the_replica, anew=True, by_replica=True),
    Rescue(move_to_another_installation, loses=False, is_elsewhere=True),
)
