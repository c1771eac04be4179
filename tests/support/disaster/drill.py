"""Checks of what must hold for an integrator after a disaster: no number is used twice, and the integrator knows
what is missing (decisions, section 11).
"""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.backups import back_up, is_right, is_right_but_for_open_entries
from tests.support.command import Home, Server
from tests.support.disaster.integrator import (
    ARTICLES,
    EVENTS,
    ORDERS,
    Integrator,
    ask,
    codes_changed_since,
    event_after,
)
from tests.support.disaster.load import load
from tests.support.disaster.rescues import Rescue, Saved
from tests.support.disaster.site import Site
from tests.support.litestream import PROGRAM, replicating
from tests.support.mailbox import Letter
from tests.support.newer_wmsd import newer_wmsd


@dataclass
class Lost:
    """A loss at a site. `kept` has the codes of the articles that were acknowledged before the backup began."""

    name: str
    kept: set[str]
    keys_are_lost: bool


def drill(site: Site, rescue: Rescue, rounds: Sequence[str], is_thorough: bool = False) -> Integrator:
    """Run a disaster for each name in `rounds`. After each, check that the integrator can continue to read, and
    that the site has no errors.

    `is_thorough` also tries a newer program, another installation and a replica.
    """
    integrator = Integrator()
    for name in rounds:
        lost = lose_what_came_after_a_backup(site, integrator, name, rescue)
        if rescue.anew:
            site.make_anew_what_is_lost(lost.keys_are_lost)
        reads_on(site, integrator, lost, rescue)
        archive = is_whole(site, name)
        if is_thorough:
            goes_anywhere(site, archive, name)
    numbers_are_given_once(site.mailbox.letters, len(rounds) if rescue.cuts else 0)
    return integrator


def lose_what_came_after_a_backup(site: Site, integrator: Integrator, name: str, rescue: Rescue) -> Lost:
    """Back up the site, lose everything that came after the backup, and rescue the site.

    Before the loss the integrator has read everything, including the records that are then lost.
    """
    with site.serving() as server:
        integrator.work(server, f"{name}-kept")
        integrator.read(server)
        with load(server, f"{name}-load") as written:
            began = time.monotonic()
            archive = back_up(site.home, f"{name}-backup.tar.gz", *site.backup_options)
            replica = replicate(site.home) if rescue.by_replica else None
    saved = Saved(archive, site.file.read_bytes(), replica)
    with site.serving() as server:
        integrator.work(server, f"{name}-lost")
        integrator.read(server)
        site.receives(integrator.events)
    rescue.act(site, saved)
    return Lost(name, written.until(began), rescue.loses_keys(site.seal))


def replicate(home: Home) -> Path:
    """Return the folder of a complete replica, which is not updated any more."""
    shutil.rmtree(home.folder / "replica", ignore_errors=True)
    with replicating(home) as litestream:
        return litestream.replica


def is_whole(site: Site, name: str) -> Path:
    """Check that the doctor finds no errors, and that the site can be backed up, verified, upgraded and exported.

    Return the archive of the backup.
    """
    assert is_right(site.home)
    made = back_up(site.home, f"{name}-after.tar.gz", *site.backup_options)
    assert "can be restored" in site.home.ok("backup", "verify", made, *site.restore_options).out
    rehearsed = site.home.run("upgrade", made, "--rehearse")
    assert (rehearsed.code, rehearsed.json["problems"]) == (0, []), rehearsed
    site.home.ok("company", "export", "ACME", f"{name}.tar.gz")
    return made


def goes_anywhere(site: Site, archive: Path, name: str) -> None:
    """Check that the site works elsewhere.

    A newer program can upgrade the files. Another installation can import the company. Another machine can restore
    the replica, and the doctor there finds only recovery findings.
    """
    folder = site.folder / "newer"
    newer = folder if folder.exists() else newer_wmsd(folder)
    rehearsed = site.home.run_fresh("upgrade", archive, "--rehearse", env={"PYTHONPATH": str(newer)})
    assert rehearsed.code == 0, rehearsed
    assert (rehearsed.json["problems"], rehearsed.json["migrated"]) == ([], 2)
    other = site.new_installation()
    other.ok("company", "import", site.home.folder / f"{name}.tar.gz")
    assert is_right(other)
    with site.serving():
        replica = replicate(site.home)
    box = Home(site.home.program, other.folder / "box")
    box.folder.mkdir()
    box.ok("replica", "restore", replica, "--litestream", PROGRAM)
    assert is_right_but_for_open_entries(box)


def reads_on(site: Site, integrator: Integrator, lost: Lost, rescue: Rescue) -> None:
    gone = [event for event in integrator.events.values() if f"{lost.name}-lost" in str(event["data"])]
    with site.serving() as server:
        if rescue.loses:
            knows_that_events_are_gone(server, integrator, gone, lost.keys_are_lost)
            changes_no_stranger(server, integrator)
            repeats_what_was_lost(server, integrator, lost.name)
        else:
            misses_nothing(server, integrator, lost, rescue)
        if rescue.cuts:
            meets_all_records_again(server, integrator, lost.kept)
        integrator.work(server, f"{lost.name}-new")
        integrator.read(server)
        assert integrator.has_all_events_of(server)
        site.receives(integrator.events)


def misses_nothing(server: Server, integrator: Integrator, lost: Lost, rescue: Rescue) -> None:
    """Check that the site has lost nothing: no event, no article, no Idempotency-Key.

    A cursor may be refused only if a new epoch of the history began, or if the keys are lost.
    """
    refused = integrator.read_on(server)
    assert (refused is not None) == (rescue.cuts or lost.keys_are_lost)
    assert integrator.has_the_same_events_as(server)
    for record_id, code in [
        (of_id, code) for (path, of_id), code in integrator.created.items() if path == ARTICLES
    ]:
        assert ask(server, "GET", f"{ARTICLES}/{record_id}").body["code"] == code
    for part in ("kept", "lost"):
        replays(server, integrator, f"{lost.name}-{part}-order")


def knows_that_events_are_gone(
    server: Server, integrator: Integrator, gone: list[dict[str, str]], keys_are_lost: bool
) -> None:
    after = event_after(server, gone[-1]["id"])
    refused = integrator.read_on(server)
    assert refused is not None, "a cursor of what is gone was taken"
    answers = [(after, "after")] if keys_are_lost else [(refused, "cursor"), (after, "after")]
    for told, field in answers:
        assert (told.status, told.body["code"], list(told.body["errors"])) == (422, "VALIDATION_FAILED", [field])
        details = told.body["details"]
        assert set(details) == {"epoch", "kept_up_to", "restored_at", "cursor"}
        assert details["kept_up_to"] < min(event["timestamp"] for event in gone) < details["restored_at"]
    if keys_are_lost:
        assert "read all records again" in str(refused.body["errors"])
    assert ask(server, "GET", f"{EVENTS}?per_page=500").body["epoch"] == after.body["details"]["epoch"]
    assert integrator.has_all_events_of(server)


def meets_all_records_again(server: Server, integrator: Integrator, kept: set[str]) -> None:
    """Check that the integrator sees all records again, including everything acknowledged before
    the backup began.
    """
    there = codes_changed_since(server, "2000-01-01T00:00:00Z")
    assert codes_changed_since(server, integrator.as_of) == there
    assert kept <= there


def changes_no_stranger(server: Server, integrator: Integrator) -> None:
    """Check that a change with the ETag of a lost record is refused, even if another record has its id now."""
    for record_id, etag in integrator.etags.items():
        told = ask(server, "PATCH", f"{ARTICLES}/{record_id}", {"name": "x"}, If_Match=etag)
        assert told.status in (404, 412), (record_id, told)


def repeats_what_was_lost(server: Server, integrator: Integrator, name: str) -> None:
    """Repeat a lost order with its idempotency key, which is no longer known.

    The answer must say that the order may have been sent before.
    """
    told = ask(server, "POST", ORDERS, integrator.keys[f"{name}-lost-order"], Idempotency_Key=f"{name}-lost-order")
    assert told.status == 201
    assert told.body["code"] not in integrator.created.values()
    integrator.created[ORDERS, told.body["id"]] = told.body["code"]
    assert told.headers["x-history-cut"] <= told.body["created_at"]
    replays(server, integrator, f"{name}-kept-order")


def replays(server: Server, integrator: Integrator, key: str) -> None:
    told = ask(server, "POST", ORDERS, integrator.keys[key], Idempotency_Key=key)
    assert (told.status, told.headers["idempotent-replayed"]) == (201, "true")
    assert integrator.created[ORDERS, told.body["id"]] == told.body["code"]


def numbers_are_given_once(letters: list[Letter], cuts: int) -> None:
    """Check that no sequence number was sent with two events, that the announced gaps name every number that the
    receiver lacks, and that each of the `cuts` began a new epoch.
    """
    by_number: dict[int, str] = {}
    named = set[int]()
    for letter in letters:
        number, event = int(letter.headers["x-webhook-sequence"]), letter.headers["x-webhook-id"]
        assert by_number.setdefault(number, event) == event, f"number {number} was given twice"
        if "x-webhook-sequence-gap" in letter.headers:
            first, last = map(int, letter.headers["x-webhook-sequence-gap"].split("-"))
            named |= set(range(first, last + 1))
    assert set(range(1, max(by_number) + 1)) <= by_number.keys() | named
    epochs = list(dict.fromkeys(letter.headers["x-webhook-epoch"] for letter in letters))
    assert [name.partition("-")[0] for name in epochs] == [str(number) for number in range(1, cuts + 2)]
