"""What must hold for an integrator after a disaster: nothing is given twice, and it knows what it misses
(decisions, section 11).
"""

from tests.support.backups import back_up
from tests.support.command import Server
from tests.support.disaster.integrator import (
    ARTICLES,
    EVENTS,
    ORDERS,
    Integrator,
    ask,
    codes_changed_since,
    event_after,
)
from tests.support.disaster.rescues import Rescue
from tests.support.disaster.site import Site
from tests.support.mailbox import Letter


def lose_what_came_after_a_backup(site: Site, integrator: Integrator, name: str, rescue: Rescue) -> None:
    """The integrator has read everything, also what is lost."""
    with site.serving() as server:
        integrator.work(server, f"{name}-kept")
        integrator.read(server)
    archive = back_up(site.home, f"{name}-backup.tar.gz", "--passphrase-file", "words")
    older = site.file.read_bytes()
    with site.serving() as server:
        integrator.work(server, f"{name}-lost")
        integrator.read(server)
        site.receives(integrator.events)
    rescue(site, archive, older)


def reads_on(site: Site, integrator: Integrator, name: str) -> None:
    lost = [event for event in integrator.events.values() if f"{name}-lost" in str(event["data"])]
    with site.serving() as server:
        knows_that_events_are_gone(server, integrator, lost)
        meets_all_records_again(server, integrator)
        changes_no_stranger(server, integrator, name)
        repeats_what_was_lost(server, integrator, name)
        integrator.work(server, f"{name}-new")
        integrator.read(server)
        assert integrator.has_all_events_of(server)
        site.receives(integrator.events)


def knows_that_events_are_gone(server: Server, integrator: Integrator, lost: list[dict[str, str]]) -> None:
    after = event_after(server, lost[-1]["id"])
    refused = integrator.read_on(server)
    assert refused is not None, "a cursor of what is gone was taken"
    for told, field in ((refused, "cursor"), (after, "after")):
        assert (told.status, told.body["code"], list(told.body["errors"])) == (422, "VALIDATION_FAILED", [field])
        details = told.body["details"]
        assert set(details) == {"epoch", "kept_up_to", "restored_at", "cursor"}
        assert details["kept_up_to"] < min(event["timestamp"] for event in lost) < details["restored_at"]
    told = ask(server, "GET", f"{EVENTS}?per_page=500").body
    assert told["epoch"] == refused.body["details"]["epoch"]
    assert integrator.has_all_events_of(server)


def meets_all_records_again(server: Server, integrator: Integrator) -> None:
    there = {record["code"] for record in ask(server, "GET", f"{ARTICLES}?per_page=200").body["data"]}
    assert codes_changed_since(server, integrator.as_of) == there


def changes_no_stranger(server: Server, integrator: Integrator, name: str) -> None:
    """With an ETag of what is lost, of an id that is there or is not."""
    for record_id, etag in integrator.etags.items():
        told = ask(server, "PATCH", f"{ARTICLES}/{record_id}", {"name": "x"}, If_Match=etag)
        assert told.status in (404, 412), (record_id, told)


def repeats_what_was_lost(server: Server, integrator: Integrator, name: str) -> None:
    """With its key, which is not known any more: the answer says that it may have been sent before."""
    told = ask(server, "POST", ORDERS, integrator.keys[f"{name}-lost-order"], Idempotency_Key=f"{name}-lost-order")
    assert told.status == 201
    assert told.body["code"] not in integrator.created.values()
    integrator.created[ORDERS, told.body["id"]] = told.body["code"]
    assert told.headers["x-history-cut"] <= told.body["created_at"]
    kept = ask(server, "POST", ORDERS, integrator.keys[f"{name}-kept-order"], Idempotency_Key=f"{name}-kept-order")
    assert (kept.status, kept.headers["idempotent-replayed"]) == (201, "true")
    assert integrator.created[ORDERS, kept.body["id"]] == kept.body["code"]


def numbers_are_given_once(letters: list[Letter]) -> None:
    """A receiver sees no number with other content, and each number that it lacks is named in a gap."""
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
    assert [name.partition("-")[0] for name in epochs] == ["1", "2", "3"]
