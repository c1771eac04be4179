"""The attacks of a tenant on other tenants with a token of its own, each as often as the limit allows."""

import random
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from tests.support.hostile.scene import Insider, Scene, Tenant, as_json, request

LETTERS: Final = "aeiorstnlcb"
ORDER_LINES: Final = 1000


async def search(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    words = random.choice((LETTERS, "a" * 32, ["re", "se", "bl", "wh", "pi", "ch"], ["aa"], "ab", ["st", "al"]))
    path = f"/api/articles?per_page=200&search={'%20'.join(words)}"
    await scene.ask("searches", address, "GET", path, headers=tenant.headers)


async def search_and_leave(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    path = "/api/articles?per_page=200&page=400&search=re%20se%20bl"
    async with scene.connected(address) as (_, writer):
        writer.write(request("GET", path, headers=tenant.headers))
        await writer.drain()
        scene.answers["searches, left", "sent"] += 1


async def ask_graphql(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    searches = " ".join(f's{n}: articles(first: 20, search: "re se {n}") {{ nodes {{ id }} }}' for n in range(28))
    few = " ".join(f's{n}: articles(first: 20, search: "st al {n}") {{ nodes {{ id }} }}' for n in range(5))
    documents = (
        f"{{ {searches} }}",
        f"{{ {few} }}",
        "{ sales_orders(first: 100) { nodes { id lines { id article { id name } } partner { name } } } }",
        "{ articles(first: 500) { nodes { id name description } } }",
        "{" * 5000,
        "query { " + "a " * 900 + "}",
        "{ __schema { types { fields { type { ofType { fields { type { name } } } } } } } }",
    )
    body = as_json({"query": documents[next(rounds) % len(documents)]})
    await scene.ask("documents", address, "POST", "/api/graphql", body, tenant.headers)


async def mutate(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    code, notes = f"M{random.randrange(10**12)}-", "x" * 500
    fields = " ".join(
        f'm{n}: create_article(input: {{code: "{code}{n}", name: "n", description: "{notes}"}}) {{ id }}'
        for n in range(25)
    )
    body = as_json({"query": f"mutation {{ {fields} }}"})
    await scene.ask("mutations", address, "POST", "/api/graphql", body, tenant.headers)


async def order_much(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    lines = [{"article_code": "A0000001", "quantity": 0.001}] * ORDER_LINES
    body = as_json({"partner_id": 1, "warehouse_id": 1, "notes": "n" * 4000, "lines": lines})
    await scene.ask("large orders", address, "POST", "/api/v2/sales-orders", body, tenant.headers)


async def read_much(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    paths = (
        "/api/sales-orders?per_page=200",
        "/api/v2/events?per_page=500",
        "/api/v2/sales-orders?per_page=500",
        "/api/articles?per_page=200&page=300",
    )
    is_read = next(rounds) % 2 == 0
    path = random.choice(paths)
    if is_read:
        await scene.ask("large pages", address, "GET", path, headers=tenant.headers)
        return
    async with scene.connected(address) as (_, writer):
        writer.write(request("GET", path, headers=tenant.headers))
        await writer.drain()
        scene.answers["large pages, unread", "sent"] += 1
        await scene.pause(60)


async def batch_much(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    reads = [{"method": "GET", "path": "/api/v2/events?per_page=500"}] * 10
    orders = [{"method": "POST", "path": "/api/v2/sales-orders", "body": {"lines": [0] * 20_000}}] * 50
    bodies = (
        as_json({"requests": reads}),
        b'{"requests":[' + b",".join([b"NaN"] * 1_000_000) + b"]}",
        b'{"requests":[' + b",".join([b"{}"] * 1_300_000) + b"]}",
        b"{" + b",".join(b'"a%d":1' % place for place in range(300_000)) + b"}",
        as_json({"requests": orders}),
    )
    await scene.ask(
        "batches", address, "POST", "/api/v2/batch", bodies[next(rounds) % len(bodies)], tenant.headers
    )


async def send_nonsense(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    lines = '{"partner_id":1,"warehouse_id":1,"lines":['
    members = ("NaN", "1", "{}", "[]", '{"a":1,"b":1,"c":1}', '{"quantity":1e99}', '"\\ud800"')
    member = members[next(rounds) % len(members)]
    body = (lines + ",".join([member] * (1_000_000 // (len(member) + 1))) + "]}").encode()
    await scene.ask("nonsense", address, "POST", "/api/sales-orders", body, tenant.headers)


async def subscribe(scene: Scene, address: str, tenant: Tenant, rounds: Iterator[int]) -> None:
    """Subscribe receivers that never answer, or this service itself, to every event."""
    port = scene.port if next(rounds) % 2 else 9
    hook = {"name": "W", "url": f"https://127.0.0.1:{port}/", "events": ["*"], "secret": "x" * 32}
    await scene.ask("subscriptions", address, "POST", "/api/webhooks", as_json(hook), tenant.headers)


class Attack(NamedTuple):
    """An attack.

    `tenant` is the place of the tenant that runs it. Each tenant runs its attack as often as its limits allow.
    """

    run: Insider
    per_minute: float
    tenant: int


ATTACKS: Final[Mapping[str, Attack]] = {
    "searches": Attack(search, 40, 0),
    "searches, left": Attack(search_and_leave, 20, 0),
    "documents": Attack(ask_graphql, 30, 0),
    "large orders": Attack(order_much, 10, 1),
    "large pages": Attack(read_much, 30, 1),
    "batches": Attack(batch_much, 3, 1),
    "mutations": Attack(mutate, 1.5, 2),
    "nonsense": Attack(send_nonsense, 20, 2),
    "subscriptions": Attack(subscribe, 3, 2),
    "documents, of another": Attack(ask_graphql, 30, 2),
}
