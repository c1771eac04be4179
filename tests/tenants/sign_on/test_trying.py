"""A platform admin tries claims, and sees who would get in and why; nothing changes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import PASSWORD, all_rows
from tests.tenants.sign_on.providers import ANA, Scene, open_scene, unsigned

TRY = "/sign-on/try"
RULES = [
    {"claim": "groups", "value": "wms-acme", "companies": ["ACME", "GONE"], "abilities": ["stock:read"]},
    {"claim": "groups", "value": "wms-admins", "role": "platform-admin"},
]


async def admin(scene: Scene) -> Visitor:
    await scene.visitor.sign_in("admin@example.com", PASSWORD)
    return scene.visitor


async def tried(visitor: Visitor, claims: object, provider: str = "company") -> Seen:
    token = (await visitor.get(TRY)).form_token
    text = claims if isinstance(claims, str) else json.dumps(claims)
    return await visitor.post(TRY, {"form_token": token, "provider": provider, "claims": text})


def facts(seen: Seen) -> dict[str, str]:
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", seen.text.partition("<dialog")[0], re.DOTALL)
    return {name: re.sub(r"<[^>]+>", "", text).strip() for name, text in found}


async def test_who_would_come_in_and_why(tmp_path: Path) -> None:
    async with open_scene(
        tmp_path / "data", {"create_users": True, "follow_rules": True, "rules": RULES}
    ) as scene:
        visitor = await admin(scene)
        before = await scene.world.installation.platform.read(all_rows)
        seen = await tried(visitor, {"sub": "7", **ANA, "groups": ["wms-acme"]})
        assert (seen.status, "<h2>A new user</h2>" in seen.text) == (200, True)
        assert facts(seen) == {
            "Why": "No user has the e-mail address ana@example.com.",
            "E-mail address": "ana@example.com",
            "Name": "Ana",
            "Subject": "7",
            "Role": "member",
            "Companies": "ACME",
            "Abilities": "stock:read",
        }
        assert "The rules name companies that do not exist: GONE." in seen.text
        assert (
            "is the first rule that applies: its role and abilities are used"
        ) in seen.text and "does not match" in seen.text
        nobody = await tried(visitor, {"sub": "7", **ANA, "groups": []})
        assert "<h2>No user</h2>" in nobody.text
        assert "no rule matches this account" in facts(nobody)["Why"]
        changed = await tried(visitor, {"sub": "7", **ANA, "email": "admin@example.com", "groups": ["wms-acme"]})
        assert facts(changed)["Role"] == "member changed by the rules"
        assert scene.provider.asked == []
        after = await scene.world.installation.platform.read(all_rows)
        assert after | {"sessions": []} == before | {"sessions": []}


async def test_an_id_token_is_read_without_its_signature(scene: Scene) -> None:
    visitor = await admin(scene)
    seen = await tried(visitor, unsigned({"sub": "7", **ANA}) + "x")
    assert (seen.status, "<h2>An existing user</h2>" in seen.text) == (200, True)
    assert facts(seen)["Companies"] == "every company"


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ("", "must have at least 1 character"),
        ("{", "must be a JSON object, or an ID token"),
        ("[]", "must be a JSON object, or an ID token"),
        ("a.b.c", "must be a JSON object, or an ID token"),
        ("a.YQ.c", "must be a JSON object, or an ID token"),
        ('{"sub": "1", "sub": "2"}', "contains sub, which is given twice"),
        (
            '{"sub": "\\ud800"}',
            "contains sub, which contains a broken character (half of a surrogate pair): delete it and type it "
            "again",
        ),
        ("x" * 20_000, "must have at most 16384 characters"),
        ("[" * 16_000, "must be a JSON object, or an ID token"),
    ],
)
async def test_a_sample_that_is_none(scene: Scene, claims: str, says: str) -> None:
    seen = await tried(await admin(scene), claims)
    assert (seen.status, says in seen.text) == (422, True), seen.text
    assert 'aria-describedby="claims-error"' in seen.text


@pytest.mark.parametrize("value", [None, 7, {}, [[]], "</textarea><script>alert(1)</script>"])
@pytest.mark.parametrize("name", ["sub", "email", "name", "email_verified", "groups"])
async def test_whatever_the_claims_are(scene: Scene, name: str, value: Any) -> None:
    seen = await tried(await admin(scene), {"sub": "7", **ANA, name: value})
    assert seen.status == 200
    assert "<script>" not in seen.text


async def test_it_is_for_platform_admins(scene: Scene) -> None:
    assert (await scene.visitor.get(TRY)).goes_to == f"/sign-in?next={TRY}"
    await scene.world.new_user("ion@example.com", "company-admin", ["ACME"])
    await scene.visitor.sign_in("ion@example.com", PASSWORD)
    assert (await scene.visitor.get(TRY)).status == 403
    token = (await scene.visitor.get("/account")).form_token
    fields = {"form_token": token, "provider": "company", "claims": "{}"}
    assert (await scene.visitor.post(TRY, fields)).status == 403
    assert TRY not in (await scene.visitor.get("/today")).text


async def test_the_form_must_be_of_this_session(scene: Scene) -> None:
    visitor = await admin(scene)
    assert (await visitor.post(TRY, {"provider": "company", "claims": "{}"})).status == 403


async def test_a_provider_that_is_not_there(scene: Scene) -> None:
    seen = await tried(await admin(scene), {"sub": "1"}, "other")
    assert (seen.status, "There is no such provider as other." in seen.text) == (404, True)
