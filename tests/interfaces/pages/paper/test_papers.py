"""Admins of a company set the content of its papers: address, logo, label size. Users who print see these
settings.
"""

import html
import re

import aiohttp
import pytest

from tests.interfaces.pages.administering import audit, errors, signed_in_as
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import SCRIPT, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.pictures import JPEG, png
from tests.support.shop import Shop
from wmsd.dispatch.freezes import Freezes
from wmsd.interfaces.pages.kit.quantities import DASH
from wmsd.warehouse.papers.logo import MOST_BYTES

PAPERS = "/companies/1/papers"
LOGO = f"{PAPERS}/logo"
NOTE = "/companies/1/sales-orders/1/prints/delivery-note"
ADDRESS = {
    "name": "Acme Logistics SRL",
    "address.street": "Strada Fabricii 12",
    "address.postal_code": "400620",
    "address.city": "Cluj-Napoca",
    "address.country": "RO",
    "tax_id": "RO123",
    "phone": "+40 264 1",
    "label_size": "label-62x29",
}


@pytest.fixture
async def admin(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


def cookie(visitor: Visitor) -> str:
    return "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())


async def uploaded(visitor: Visitor, file: bytes | None, name: str = "logo.png", **options: str) -> Seen:
    """Send the form for the logo as a browser does."""
    fields = form_of(await visitor.get(PAPERS))
    form = aiohttp.FormData()
    for field in ("form_token", "if_match"):
        if value := options.get(field, fields[field]):
            form.add_field(field, value)
    form.add_field("file", b"" if file is None else file, filename=name, content_type="image/png")
    headers = {"Cookie": cookie(visitor), "Sec-Fetch-Site": options.get("site", "same-origin")}
    async with visitor.world.session.post(
        visitor.world.base_url + LOGO, data=form, headers=headers, allow_redirects=False
    ) as answer:
        return Seen(answer.status, dict(answer.headers), await answer.text())


async def fetched(visitor: Visitor, path: str) -> tuple[int, dict[str, str], bytes]:
    async with visitor.world.session.get(
        visitor.world.base_url + path, headers={"Cookie": cookie(visitor)}, allow_redirects=False
    ) as answer:
        return answer.status, dict(answer.headers), await answer.read()


def refused_form(seen: Seen) -> dict[str, str]:
    return form_of(Seen(200, seen.headers, seen.text))


def logo_in(seen: Seen) -> str | None:
    found = re.search(r'<img [^>]*src="([^"]*)"', seen.text)
    return None if found is None else found[1]


def sender(seen: Seen) -> str:
    found = re.search(r'<div class="sender">(.*?)</div>', seen.text, re.DOTALL)
    assert found is not None, seen.text
    return text_of(found[1])


async def test_the_address_stands_on_every_paper(shop: Shop, admin: Visitor) -> None:
    await shop.order()
    assert sender(await admin.get(NOTE)) == "Company ACME"
    done = await sent(admin, PAPERS, **ADDRESS)
    assert (done.status, done.goes_to) == (303, f"{PAPERS}?done=change")
    seen = await admin.get(done.goes_to)
    assert "Settings of printed documents saved." in seen.text
    assert {name: form_of(seen)[name] for name in ADDRESS} == ADDRESS
    for paper in ("delivery-note", "pick-list"):
        printed = await admin.get(f"/companies/1/sales-orders/1/prints/{paper}")
        assert sender(printed) == (
            "Acme Logistics SRL Strada Fabricii 12, 400620 Cluj-Napoca, RO RO123 · +40 264 1"
        )


async def test_labels_begin_with_the_size_of_the_company(admin: Visitor) -> None:
    chosen = r'<option value="([\w-]+)" selected>'
    form = "/companies/1/articles/1/labels"
    assert re.findall(chosen, (await admin.get(form)).text) == []
    await sent(admin, PAPERS, label_size="label-100x150")
    assert re.findall(chosen, (await admin.get(form)).text) == ["label-100x150"]


@pytest.mark.parametrize(("file", "content_type"), [(png(), "image/png"), (JPEG, "image/jpeg")])
async def test_a_logo_is_served_as_what_it_is(shop: Shop, admin: Visitor, file: bytes, content_type: str) -> None:
    """The content type does not depend on the file name."""
    await shop.order()
    done = await uploaded(admin, file, "logo.svg")
    assert (done.status, done.goes_to) == (303, f"{PAPERS}?done=logo")
    address = logo_in(await admin.get(PAPERS))
    assert address is not None
    assert logo_in(await admin.get(NOTE)) == address
    status, headers, content = await fetched(admin, address)
    assert (status, content) == (200, file)
    assert headers["Content-Type"] == content_type
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox; frame-ancestors 'none'"
    assert headers["Cache-Control"] == "private, max-age=31536000, immutable"


async def test_a_logo_is_replaced_and_removed(admin: Visitor) -> None:
    await uploaded(admin, png())
    first = logo_in(await admin.get(PAPERS))
    await uploaded(admin, JPEG)
    second = logo_in(await admin.get(PAPERS))
    assert first is not None
    assert second not in (None, first)
    assert (await fetched(admin, first))[0] == 404
    form = form_of(await admin.get(PAPERS))
    done = await admin.post(f"{LOGO}/remove", {name: form[name] for name in ("form_token", "if_match")})
    assert done.goes_to == f"{PAPERS}?done=remove"
    seen = await admin.get(PAPERS)
    assert "No logo yet." in seen.text
    assert logo_in(seen) is None


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (None, "The file is empty, or was not chosen"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "The file is an SVG file, which can hold programs"),
        (b"GIF89a", "The file is not a PNG or JPEG file; save it as PNG"),
        (png() + b"PK\x03\x04", "The file has more data after the end of the picture"),
        (png(2001, 1), "The file must be 1 to 2000 pixels wide"),
        (png()[:50], "The file is damaged or incomplete"),
    ],
)
async def test_a_file_that_is_no_logo_is_refused_with_the_reason(
    admin: Visitor, file: bytes | None, reason: str
) -> None:
    await uploaded(admin, JPEG)
    before = logo_in(await admin.get(PAPERS))
    seen = await uploaded(admin, file)
    (said,) = await errors(seen)
    assert said.startswith(reason)
    assert logo_in(seen) == before


async def test_a_file_that_is_too_large_is_not_read_to_its_end(admin: Visitor) -> None:
    for more in (1, 700_000):
        seen = await uploaded(admin, png() + b"\0" * (MOST_BYTES - len(png()) + more))
        assert seen.status == 413
        assert "The logo is larger than 200 kB." in html.unescape(seen.text)
    assert logo_in(await admin.get(PAPERS)) is None


async def test_another_site_and_another_session_change_nothing(admin: Visitor) -> None:
    assert (await uploaded(admin, png(), site="cross-site")).status == 403
    assert (await uploaded(admin, png(), form_token="0" * 64)).status == 403
    assert (await uploaded(admin, png(), form_token="")).status == 403
    assert (await admin.post(f"{LOGO}/remove", {})).status == 403
    assert logo_in(await admin.get(PAPERS)) is None


async def test_two_people_at_once_lose_nothing(admin: Visitor) -> None:
    opened = form_of(await admin.get(PAPERS))
    await sent(admin, PAPERS, name="Theirs", phone="1")
    seen = await admin.post(PAPERS, {**opened, "name": "Mine"})
    assert seen.status == 412
    assert "Another user changed these settings after you opened this page." in html.unescape(seen.text)
    assert [text_of(each) for each in re.findall(r"<tr><td>.*?</tr>", seen.text)] == [
        "Name Theirs Mine",
        f"Phone 1 {DASH}",
    ]
    assert refused_form(seen)["name"] == "Mine"
    assert (await uploaded(admin, png(), if_match=opened["if_match"])).status == 412
    assert logo_in(await admin.get(PAPERS)) is None
    again = await admin.post(PAPERS, refused_form(seen))
    assert again.status == 303
    assert form_of(await admin.get(PAPERS))["name"] == "Mine"


async def test_what_is_wrong_stands_at_its_field_and_nothing_is_lost(admin: Visitor) -> None:
    seen = await sent(admin, PAPERS, **{**ADDRESS, "tax_id": "x" * 65, "label_size": "label-9x9"})
    assert seen.status == 422
    said = await errors(seen)
    assert len(said) == 2
    assert said[0].startswith("Tax number must have at most 64 characters")
    assert refused_form(seen)["name"] == ADDRESS["name"]


async def test_names_stay_text(shop: Shop, admin: Visitor) -> None:
    await shop.order()
    await uploaded(admin, png())
    await sent(admin, PAPERS, **{"name": SCRIPT, "address.street": SCRIPT, "phone": SCRIPT[:60]})
    for path in (PAPERS, NOTE):
        assert "<script>alert" not in (await admin.get(path)).text


async def test_members_see_the_logo_and_set_nothing(shop: Shop, admin: Visitor) -> None:
    await uploaded(admin, png())
    address = logo_in(await admin.get(PAPERS))
    assert address is not None
    await shop.world.new_user("m@example.com", "member", ["ACME"], ["articles:read"])
    member = await signed_in_as(shop.world, "m@example.com")
    assert (await fetched(member, address))[0] == 200
    assert (await member.get(PAPERS)).status == 403
    assert f'href="{PAPERS}"' not in (await member.get("/companies/1/articles")).text
    assert f'href="{PAPERS}"' in (await admin.get("/companies/1/articles")).text
    token = {"form_token": (await member.get("/companies/1/articles")).form_token}
    for path in (PAPERS, f"{LOGO}/remove"):
        assert (await member.post(path, token)).status == 403


async def test_the_logo_of_another_company_is_not_found(shop: Shop, admin: Visitor) -> None:
    """The logo's hash does not work under another company's address, and the address of its company is closed."""
    await uploaded(admin, png())
    address = logo_in(await admin.get(PAPERS))
    assert address is not None
    await shop.world.new_company("OTHER")
    await shop.world.new_user("o@example.com", "company-admin", ["OTHER"], [])
    other = await signed_in_as(shop.world, "o@example.com")
    assert (await fetched(other, address))[0] == 404
    assert (await fetched(other, address.replace("/companies/1/", "/companies/2/")))[0] == 404
    assert (await other.get(PAPERS)).status == 404
    assert (await other.get("/companies/2/papers")).status == 200
    assert (await fetched(Visitor(shop.world), address))[0] == 303


async def test_a_company_that_is_being_moved_keeps_its_papers(admin: Visitor) -> None:
    freezes = admin.world.installation.freezes
    assert isinstance(freezes, Freezes)
    freezes.begin(1, "2026-11-28T10:00:00.000Z")
    assert (await sent(admin, PAPERS, name="New")).status == 503
    assert (await uploaded(admin, png())).status == 503
    freezes.end(1)
    assert form_of(await admin.get(PAPERS))["name"] == ""


async def test_the_audit_tells_who_changed_what(admin: Visitor) -> None:
    await sent(admin, PAPERS, name="New")
    await uploaded(admin, png())
    assert [entry[1:3] for entry in (await audit(admin))[:2]] == [
        ["papers.logo", "ACME New"],
        ["papers.change", "ACME"],
    ]


async def test_a_paper_is_of_a4_or_a6(shop: Shop, admin: Visitor) -> None:
    await shop.order()
    for asked, size in (("", "a4"), ("?size=a6", "a6"), ("?size=a9", "a4")):
        assert f'<body class="paper {size} document">' in (await admin.get(NOTE + asked)).text
