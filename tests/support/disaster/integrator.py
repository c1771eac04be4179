"""An integrator's program, which reads events and records from the server.

The program stores everything that it received, and how far it has read, so that it can continue after a disaster.
"""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from tests.support.command import Server
from tests.support.forked import LONGEST

EVENTS = "/api/v2/events"
SYNC = "/api/articles/sync"
STOCK = "/api/v2/stock"
ORDERS = "/api/sales-orders"
ARTICLES = "/api/articles"


@dataclass
class Told:
    """An answer of the server. Header names are in lower case."""

    status: int
    body: Any
    headers: dict[str, str]


def ask(server: Server, method: str, path: str, body: Any = None, **headers: str) -> Told:
    """Send a request with the server's token. The names of `headers` have `_` for `-`."""
    sent = {"Authorization": f"Bearer {server.token}", "X-Company-Id": "1"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        sent["Content-Type"] = "application/json"
    request = urllib.request.Request(server.address + path, data, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LONGEST) as answer:
            return _told(answer.status, answer.read(), answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return _told(error.code, error.read(), error.headers)


def _told(status: int, body: bytes, headers: Any) -> Told:
    return Told(status, json.loads(body) if body else None, {name.lower(): text for name, text in headers.items()})


@dataclass
class Integrator:
    """The integrator's own data.

    `created` has the code of each created record, by its path and id. `cursors`, by path, and `as_of` say where to
    continue reading. `etags` has the ETags of the changed articles, by id.
    """

    created: dict[tuple[str, int], str] = field(default_factory=dict)
    events: dict[str, Any] = field(default_factory=dict)
    """The events that were read, by id."""
    cursors: dict[str, str] = field(default_factory=dict)
    as_of: str = ""
    etags: dict[int, str] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)
    """The orders that were sent, by Idempotency-Key."""

    def work(self, server: Server, name: str) -> None:
        """Create an article and an order, and change the article."""
        article = self._create(server, ARTICLES, {"code": f"{name}-article", "name": name}, f"{name}-article")
        changed = ask(server, "PATCH", f"{ARTICLES}/{article['id']}", {"name": f"{name} changed"})
        assert changed.status == 200, changed
        self.etags[article["id"]] = changed.headers["etag"]
        order = {
            "partner_id": 1,
            "warehouse_id": 1,
            "external_ref": f"{name}-order",
            "lines": [{"article_code": "GOODS", "quantity": 1}],
        }
        self.keys[f"{name}-order"] = order
        self._create(server, ORDERS, order, f"{name}-order")

    def _create(self, server: Server, path: str, body: Any, key: str) -> Any:
        told = ask(server, "POST", path, body, Idempotency_Key=key)
        assert told.status == 201, told
        record = told.body
        known = self.created.setdefault((path, record["id"]), record["code"])
        assert known == record["code"], f"the id {record['id']} was given to {known} and to {record['code']}"
        assert list(self.created.values()).count(record["code"]) == 1, f"{record['code']} was given twice"
        return record

    def read(self, server: Server) -> None:
        """Read everything that is new, and store where reading ended."""
        for path in (EVENTS, SYNC, STOCK):
            told = walk(server, path, self.cursors.get(path))
            assert isinstance(told, Walked), told
            self._keep(path, told)
        self.as_of = ask(server, "GET", f"{SYNC}?per_page=1").body["as_of"]

    def read_on(self, server: Server) -> Told | None:
        """Continue to read after a disaster. If a cursor is refused, use the cursor that the refusal names, or
        else read from the beginning.

        Return the first refusal, or None if no cursor was refused.
        """
        refused = None
        for path in (EVENTS, SYNC, STOCK):
            told = walk(server, path, self.cursors[path])
            if isinstance(told, Told):
                assert told.status == 422, told
                refused = refused or told
                told = walk(server, path, told.body.get("details", {}).get("cursor"))
            assert isinstance(told, Walked), told
            self._keep(path, told)
        return refused

    def _keep(self, path: str, told: "Walked") -> None:
        self.cursors[path] = told.end_cursor
        if path == EVENTS:
            for event in told.data:
                assert self.events.setdefault(event["id"], event) == event

    def has_all_events_of(self, server: Server) -> bool:
        return events_of(server) <= self.events.keys()

    def has_the_same_events_as(self, server: Server) -> bool:
        return events_of(server) == self.events.keys()


@dataclass
class Walked:
    data: list[Any]
    end_cursor: str
    cuts: list[Any]


def walk(server: Server, path: str, cursor: str | None, **query: str) -> Walked | Told:
    """Return all pages after the cursor, or the answer that refused a page."""
    data, cuts, following = list[Any](), list[Any](), cursor
    while True:
        sent = urlencode({**query, **({} if following is None else {"cursor": following}), "per_page": "3"})
        told = ask(server, "GET", f"{path}?{sent}")
        if told.status != 200:
            return told
        data += told.body["data"]
        cuts += told.body.get("cuts", [])
        following = told.body["next_cursor"]
        if following is None:
            return Walked(data, told.body["end_cursor"], cuts)


def events_of(server: Server) -> set[str]:
    """Return the ids of all events."""
    told = walk(server, EVENTS, None)
    assert isinstance(told, Walked), told
    return {event["id"] for event in told.data}


def codes_changed_since(server: Server, moment: str) -> set[str]:
    told = walk(server, SYNC, None, updated_since=moment)
    assert isinstance(told, Walked), told
    return {record["code"] for record in told.data}


def event_after(server: Server, event_id: str) -> Told:
    return ask(server, "GET", f"{EVENTS}?after={quote(event_id)}")
