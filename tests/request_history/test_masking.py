"""No secret is stored in memory or in a file, in whatever form it is sent."""

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.request_history.keeping import kept
from tests.support.world import World
from wmsd.dispatch import masking

SECRET = "hunter2hunter2hunter2"
HOOK = {"name": "Shop", "url": "https://receiver.invalid/hook", "events": ["*"]}
OF_A_WEBHOOK: dict[str, dict[str, Any]] = {
    "secret": {"auth_type": "hmac", "secret": SECRET},
    "token": {"auth_type": "bearer", "token": SECRET},
    "password": {"auth_type": "basic", "username": "u", "password": SECRET},
    "username": {"auth_type": "basic", "username": SECRET, "password": "x"},
    "headers": {"auth_type": "custom", "headers": {"X-Shop": SECRET}},
    "of the wrong type": {"secret": [SECRET, {"a": SECRET}]},
    "too short": {"auth_type": "hmac", "secret": SECRET[:15]},
    "in an address": {"url": f"https://u:{SECRET}@receiver.invalid/", "auth_type": "hmac"},
    "in the query of an address": {"url": f"https://receiver.invalid/?api_key={SECRET}", "secret": "s" * 20},
    "in any query": {"url": f"https://receiver.invalid/hook?to={SECRET}", "secret": "s" * 20},
    "in the path of an address": {"url": f"https://receiver.invalid/services/T000/{SECRET}", "secret": "s" * 20},
    "in an address that is refused": {"url": f"ftp://receiver.invalid/{SECRET}", "secret": "s" * 20},
    "in an address that may not be dialled": {"url": f"https://127.0.0.1/{SECRET}", "secret": "s" * 20},
    "in no address": {"url": f"receiver.invalid:{SECRET}", "secret": "s" * 20},
    "in a name with a slash": {"url": f"https://u:/{SECRET}@receiver.invalid/", "secret": "s" * 20},
}
ELSEWHERE: dict[str, dict[str, Any]] = {
    "an unknown field": {"code": "A", "apiKey": SECRET},
    "an unknown field inside": {"code": "A", "x": {"y": [{"Client-Secret": SECRET}]}},
    "a field pass": {"code": "A", "x": [{"pass": SECRET}]},
    "a field that ends with pass": {"code": "A", "smtpPass": SECRET},
    "a field pin": {"code": "A", "lines": {"PIN": SECRET}},
    "a field key": {"code": "A", "x": {"key": SECRET}},
    "a field signing key": {"code": "A", "x": [[{"signing-key": SECRET}]]},
    "an address anywhere": {"code": "A", "x": {"callbackUrl": f"https://a.example/{SECRET}"}},
    "a token in a text": {"code": "A", "name": f"Authorization: Bearer {SECRET}"},
}
GRAPHQL: dict[str, dict[str, Any]] = {
    "in the document": {
        "query": f'mutation {{ create_webhook(input: {{name: "n", url: "x", events: ["*"], secret: "{SECRET}"}}) '
        "{ id } }"
    },
    "in a block": {"query": f'mutation {{ create_webhook(input: {{secret: """{SECRET}"""}}) {{ id }} }}'},
    "in a comment": {"query": f"# {SECRET}\n{{ articles {{ totalCount }} }}"},
    "as a variable of any name": {
        "query": "mutation($s: String!) { create_webhook(input: {name: $n, secret : $s}) { id } }",
        "variables": {"s": SECRET},
    },
    "before the document": {
        "variables": {"s": SECRET},
        "query": "mutation($s: String!) { create_webhook(input: {secret: $s}) { id } }",
    },
    "as a variable of a document that is cut off": {
        "variables": {"s": SECRET},
        "query": "query($s: String!) { a }" + " " * 9000 + "{ create_webhook(input: {secret: $s}) { id } }",
    },
    "in a value of the wrong type": {"query": f'{{ articles(first: "{SECRET}") {{ nodes {{ id }} }} }}'},
    "where nothing can be": {"query": f'{{ articles "{SECRET}" {{ nodes {{ id }} }} }}'},
    "as a variable of the wrong type": {
        "query": 'mutation($s: String) { create_webhook(input: {name: "n", url: "x", events: ["*"], secret: $s}) '
        "{ id } }",
        "variables": {"s": [SECRET]},
    },
    "beside what is unknown": {
        "query": "mutation($i: WebhookInput!) { create_webhook(input: $i) { id } }",
        "variables": {"i": {**HOOK, "secret": {"a": "'\"" + SECRET}, "x": 1}},
    },
    "in the path of an address": {
        "query": "mutation($u: String!) { create_webhook(input: {name: "
        '"n", url: $u, events: ["*"], secret: "sssssssssssssssssssss"}) { id other: url } }',
        "variables": {"u": f"https://receiver.invalid/services/{SECRET}"},
    },
    "in the path of an address in an input": {
        "query": "mutation($i: WebhookInput!) { create_webhook(input: $i) { id other: url } }",
        "variables": {"i": {**HOOK, "url": f"https://receiver.invalid/{SECRET}", "secret": "s" * 20}},
    },
    "in an input": {
        "query": "mutation($i: WebhookInput!) { create_webhook(input: $i) { id } }",
        "variables": {"i": {**HOOK, "secret": SECRET}},
    },
}


def is_kept_anywhere(world: World, secret: str = SECRET) -> bool:
    history = world.installation.history
    history.write_waiting()
    memory = b"".join(history._recent.of(world.company))
    files = b"".join(path.read_bytes() for path in world.installation.folder.requests.rglob("*.jsonl"))
    assert memory and files
    return secret.encode() in memory + files


@pytest.mark.parametrize("fields", OF_A_WEBHOOK.values(), ids=OF_A_WEBHOOK)
async def test_no_credential_of_a_webhook_is_kept(world: World, fields: dict[str, Any]) -> None:
    sent = {**HOOK, **fields}
    await world.send("POST", "/api/v2/webhooks", sent)
    await world.send("PATCH", "/api/v2/webhooks/1", fields)
    await world.send("POST", "/api/v2/webhooks/1/rotate-secret", fields)
    one = {"method": "POST", "path": "/api/v2/webhooks", "body": sent}
    await world.send("POST", "/api/v2/batch", {"requests": [one]})
    assert len(kept(world)) == 4
    assert not is_kept_anywhere(world)
    assert not is_kept_anywhere(world, SECRET[:15])


@pytest.mark.parametrize("body", ELSEWHERE.values(), ids=ELSEWHERE)
async def test_what_looks_like_a_secret_is_not_kept_either(world: World, body: dict[str, Any]) -> None:
    await world.send("POST", "/api/articles", body)
    assert not is_kept_anywhere(world)


@pytest.mark.parametrize("body", GRAPHQL.values(), ids=GRAPHQL)
async def test_no_text_of_a_document_is_kept(world: World, body: dict[str, Any]) -> None:
    await world.send("POST", "/api/graphql", body)
    await world.send("GET", f"/api/graphql?query={body['query'][:100]}&variables={json.dumps({'s': SECRET})}")
    assert len(kept(world)) == 2
    assert not is_kept_anywhere(world)


async def test_neither_are_tokens_cookies_and_queries(world: World) -> None:
    hidden = {"Cookie": f"wmsd={SECRET}", "X-Api-Key": SECRET, "Proxy-Authorization": SECRET, "Referer": SECRET}
    await world.send("GET", f"/api/articles?token={SECRET}&%73ecret={SECRET}", headers=hidden)
    await world.send(
        "GET", f"/api/articles?key={SECRET}&pass={SECRET}&pin={SECRET}&url=https://a.example/{SECRET}"
    )
    await world.send("GET", "/api/articles", headers={"User-Agent": f"x (basic {SECRET})"})
    assert not is_kept_anywhere(world)
    assert not is_kept_anywhere(world, world.token)


@pytest.mark.parametrize("raw", [f'{{"password": "{SECRET}', f"password={SECRET}", f'["{SECRET}"]', SECRET])
async def test_what_is_no_json_object_is_not_kept(world: World, raw: str) -> None:
    await world.call("POST", "/api/articles", raw=raw.encode(), status=400)
    (entry,) = kept(world)
    assert json.loads(entry.rest)["body"] is None
    assert json.loads(entry.rest)["body_bytes"] == len(raw)
    assert not is_kept_anywhere(world)


async def test_signing_in_belongs_to_no_company(world: World) -> None:
    await world.send("POST", "/api/auth/token", {"email": "admin@example.com", "password": SECRET})
    assert kept(world) == []


ORDINARY = {
    "external_key": "E-1",
    "sort_key": "code",
    "barcode": "5941234567899",
    "shipping": "truck",
    "pinned": "1",
    "passed": "yes",
    "keys": "two",
    "keyboard": "an article",
    "code": "KEY-1",
}


async def test_ordinary_fields_are_shown(world: World) -> None:
    await world.send("POST", "/api/articles", {"x": [ORDINARY], "secret": 1})
    await world.send("PATCH", "/api/v2/webhooks/1", {"url": "https://receiver.invalid:8443/", "name": "key"})
    shown = [json.loads(json.loads(entry.rest)["body"]) for entry in kept(world)]
    assert {"x": [ORDINARY], "secret": masking.MASK} in shown
    assert {"url": "https://receiver.invalid:8443/", "name": "key"} in shown


async def test_of_the_address_of_a_webhook_scheme_and_host_are_shown(world: World) -> None:
    url = f"https://u:{SECRET}@receiver.invalid:8443/services/T000/{SECRET}?to={SECRET}"
    await world.send("POST", "/api/v2/webhooks", {**HOOK, "url": url, "secret": "s" * 20})
    (entry,) = kept(world)
    assert json.loads(json.loads(entry.rest)["body"])["url"] == f"https://receiver.invalid:8443/{masking.MASK}"


async def test_what_is_wrong_with_an_address_is_told(world: World) -> None:
    await world.send("POST", "/api/v2/webhooks", {**HOOK, "url": 5, "secret": "s" * 20})
    (entry,) = kept(world)
    assert "must be" in json.dumps(json.loads(json.loads(entry.rest)["answer"])["errors"]["url"])


NAMES = st.sampled_from(["name", "secret", "apiKey", "x", "note", "Token", "lines", "\u0219"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.just(SECRET),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(NAMES, inside, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=5)


def without_secrets(value: Any) -> Any:
    """Mask the secrets of a parsed document; the code under test masks its text."""
    if isinstance(value, dict):
        return {name: _shown(name, member) for name, member in value.items()}
    return [without_secrets(member) for member in value] if isinstance(value, list) else value


def _shown(name: str, value: Any) -> Any:
    if name in ("secret", "apiKey", "Token") and not (value is None or isinstance(value, bool)):
        return masking.MASK
    return without_secrets(value)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, st.booleans(), st.sampled_from([None, 2]))
def test_a_body_stays_as_it_was_but_for_its_secrets(document: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    assert json.loads(masking.body(text, False)) == without_secrets(json.loads(text))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, st.integers(0, 300))
def test_a_beginning_shows_no_more_than_the_whole(document: Any, end: int) -> None:
    whole = json.dumps({"secret": SECRET, **{f"n{name}": each for name, each in document.items()}, "x": 1})
    shown = masking.body(whole[:end], False)
    if "secret" not in document and SECRET not in json.dumps(without_secrets(document)):
        assert SECRET[:8] not in shown


LONG = 8 * 1024
HOSTILE = {
    "a name": "a" * LONG,
    "names of secrets": "?" + "token" * (LONG // 5),
    "parameters": "&a=" * (LONG // 3),
    "schemes": "bearer " * (LONG // 7),
    "addresses": "://" * (LONG // 3),
    "backslashes": ":" + "\\" * LONG,
    "quotes": '"' * LONG,
    "escapes": '\\"' * (LONG // 2),
    "blocks": '"""' * (LONG // 3),
    "keys": '"token":' * (LONG // 8),
    "openings": '"token":[' * (LONG // 9),
    "returns": '"a\r' * (LONG // 3),
    "commas": "a" + "," * LONG,
    "hosts": '"url":"https://' + "a@" * (LONG // 2),
    "keys of addresses": '"url":"' * (LONG // 7),
    "schemes of addresses": "https:" * (LONG // 6),
    "sentences": "cannot represent " * (LONG // 17) + "Value " * 100 + "does not exist",
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_no_text_takes_long(sent: str) -> None:
    """Masking a hostile text takes little processor time. An algorithm with quadratic cost would take a second."""
    began = time.thread_time()
    masking.text(masking.body(f'{{"secret":1,"x":"{sent}', False))
    masking.body(f'{{"secret":1,"x":{sent}', False)
    masking.body(json.dumps({"query": sent, "variables": {"a": sent}}), True)
    masking.body(f'{{"query":"{sent}', True)
    masking.path(f"/?{sent}", False)
    masking.answer(f'{{"url":"{sent}')
    masking.address(sent)
    masking.graphql_answer(f'{{"url":"https://{sent}')
    masking.graphql_answer(json.dumps({"errors": [{"message": sent}]}))
    masking.message(sent)
    assert time.thread_time() - began < 0.2
