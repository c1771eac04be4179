"""Imports on the pages: uploaded, checked, confirmed, imported and undone; and uploads that are not valid."""

import asyncio
import html
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from tests.support.world import PASSWORD
from wmsd.imports import upload_jobs

NEW = "/companies/1/imports/new"
STOCK = "article_code;warehouse_code;quantity\r\n"
PATIENCE_SECONDS = 30


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def upload(
    visitor: Visitor, kind: str, content: bytes | str, fields: Mapping[str, str] | None = None, **options: str
) -> Seen:
    """Send the form as a browser does: the token comes before the file."""
    form = aiohttp.FormData()
    token = options.get("token") or (await visitor.get(NEW)).form_token
    if token != "none":
        form.add_field("form_token", token)
    for name, value in {"kind": kind, **(fields or {})}.items():
        form.add_field(name, value)
    data = content.encode() if isinstance(content, str) else content
    form.add_field("file", data, filename=options.get("name", "list.csv"), content_type="text/csv")
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    headers = {"Cookie": cookie, "Sec-Fetch-Site": options.get("site", "same-origin"), "User-Agent": visitor.agent}
    async with visitor.world.session.post(
        visitor.world.base_url + options.get("path", NEW), data=form, headers=headers, allow_redirects=False
    ) as answer:
        return Seen(answer.status, dict(answer.headers), await answer.text())


async def test_every_label_is_in_the_language_of_its_reader(visitor: Visitor) -> None:
    """Every label is in the reader's language, even after another user has read the page in another language."""
    place, _ = await looked_at(visitor, "stock", STOCK + "A;MAIN;5,5\r\n")
    for path in (NEW, place):
        english, romanian = await visitor.get(path), await visitor.get(path, {"Accept-Language": "ro"})
        for name, told in (
            ("Encoding", "Codificare"),
            ("Column separator", "Separator de coloane"),
            ("comma", "virgulă"),
        ):
            assert (name in english.text, told in romanian.text) == (True, True), path
            assert f">{name}<" not in romanian.text


async def test_lines_of_an_order_that_go_and_come_are_named(visitor: Visitor, shop: Shop) -> None:
    made = await shop.order({"article_id": 1, "quantity": 2})
    file = f"code,partner_code,warehouse_code,article_code,quantity\n{made.body['code']},P1,MAIN,A,20\n"
    place, _ = await looked_at(visitor, "sales-orders", file)
    english, romanian = await visitor.get(place), await visitor.get(place, {"Accept-Language": "ro"})
    assert ("removed: A, 2<" in english.text, "added: A, 20<" in english.text) == (True, True)
    assert ("eliminată: A, 2<" in romanian.text, "adăugată: A, 20<" in romanian.text) == (True, True)


async def settled(visitor: Visitor, path: str) -> Seen:
    """Return the page of an upload after all work has ended. The requests become less frequent, because pages are
    limited.
    """
    for number in range(PATIENCE_SECONDS):
        seen = await visitor.get(path)
        if 'http-equiv="refresh"' not in seen.text:
            return seen
        await asyncio.sleep(min(0.1 * (number + 1), 1))
    raise TimeoutError(seen.text)


async def looked_at(visitor: Visitor, kind: str, content: bytes | str, **fields: str) -> tuple[str, Seen]:
    sent = await upload(visitor, kind, content, fields)
    assert sent.status == 303, sent.text
    return sent.goes_to, await settled(visitor, sent.goes_to)


async def confirmed(visitor: Visitor, path: str) -> Seen:
    token = (await visitor.get(path)).form_token
    sent = await visitor.post(f"{path}/confirm", {"form_token": token})
    assert (sent.status, sent.goes_to) == (303, path), sent.text
    return await settled(visitor, path)


def words(seen: Seen) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<.*?>", " ", seen.text)))


async def test_a_file_is_looked_at_confirmed_and_taken_back(visitor: Visitor) -> None:
    content = "code;name;address.city\r\nP1;Renamed;Cluj\r\nP9;Novel;\r\n"
    before = await visitor.world.rows("SELECT code, name, address FROM partners ORDER BY id")
    path, seen = await looked_at(visitor, "partners", content)
    assert "1 would be created 1 would be changed 0 stay as they are" in words(seen)
    assert "semicolon" in words(seen)
    assert "First → Renamed" in words(seen)
    assert await visitor.world.rows("SELECT code, name, address FROM partners ORDER BY id") == before

    done = await confirmed(visitor, path)
    assert (done.status, done.goes_to) == (303, "/companies/1/imports/1?done=new")
    record = await visitor.get("/companies/1/imports/1")
    assert "list.csv" in words(record)
    assert ("P9", "Novel") in await visitor.world.rows("SELECT code, name FROM partners")
    undo = await visitor.get("/companies/1/imports/1/undo")
    key = re.search(r'name="idempotency_key" value="(.*?)"', undo.text)
    assert key
    form = {"form_token": undo.form_token, "idempotency_key": key[1]}
    for _ in range(2):  # sent twice, done once
        back = await visitor.post("/companies/1/imports/1/undo", form)
        assert (back.status, back.goes_to) == (303, "/companies/1/imports/1?done=undo"), words(back)
    assert await visitor.world.rows("SELECT code, name, address FROM partners ORDER BY id") == before
    assert "Undo import" not in words(await visitor.get("/companies/1/imports/1"))


async def test_all_errors_are_told_and_nothing_can_be_confirmed(visitor: Visitor) -> None:
    rows = "".join(f"C{n},Client,nobody {n}\n" for n in range(250))
    path, seen = await looked_at(visitor, "clients", f"code,name,email\n{rows}")
    assert "The file cannot be imported while it has errors: 250." in words(seen)
    assert "nobody 199" in words(seen)
    assert "nobody 200" not in words(seen)
    assert "Import the file" not in words(seen)
    listed = (await visitor.get(f"{path}/errors.csv")).text.splitlines()
    assert (len(listed), listed[250].startswith("251,email,nobody 249,")) == (251, True)
    refused = await visitor.post(f"{path}/confirm", {"form_token": seen.form_token})
    assert refused.status == 409
    assert await visitor.world.rows("SELECT count(*) FROM imports") == [(0,)]


async def test_each_cell_stands_under_its_heading_whatever_is_empty(visitor: Visitor) -> None:
    content = "code,name,unit,description,barcode\n,no code,buc,,111\nB-1,bee,buc,,222\nB-2,,buc,desc,\nA,,,,\n"
    _, seen = await looked_at(visitor, "articles", content)
    table = seen.text.partition("The first rows")[2]
    headings, *lines = [
        re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL)
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    ]
    nothing = '<span class="zero">\N{EN DASH}</span>'
    assert headings[2:] == ["code", "name", "unit", "description", "barcode"]
    assert lines == [
        ["2", "has errors", nothing, "no code", "buc", nothing, "111"],
        ["3", "new", "B-1", "bee", "buc", nothing, "222"],
        ["4", "has errors", "B-2", nothing, "buc", "desc", nothing],
        ["5", "stays", "A", "Alpha", "pcs", nothing, nothing],
    ]


async def test_codes_that_differ_in_capital_letters_are_told_before_they_are_taken_in(visitor: Visitor) -> None:
    path, seen = await looked_at(visitor, "articles", "code,name\na,Else\nN-1,New\nn-1,Novel\n")
    assert (
        "Codes that differ from other codes only in capital letters, leading zeros or invisible characters: 2."
        in words(seen)
    )
    assert "Row 2: a, similar to A, which already exists" in words(seen)
    assert "Row 4: n-1, similar to N-1 in row 3" in words(seen)
    await confirmed(visitor, path)
    codes = {code for (code,) in await visitor.world.rows("SELECT code FROM articles")}
    assert {"A", "a", "N-1", "n-1"} <= codes


async def test_the_decimal_mark_is_asked(visitor: Visitor) -> None:
    path, seen = await looked_at(visitor, "stock", f"{STOCK}A;MAIN;1.000\r\n")
    assert '"1.000" means 1 with a decimal point, and 1000 with a decimal comma' in words(seen)
    assert "Import the file" not in words(seen)
    chosen = await visitor.post(path, {"form_token": seen.form_token, "decimal": "comma"})
    assert (chosen.status, chosen.goes_to) == (303, path)
    assert "20 → 1000" in words(await settled(visitor, path))
    await confirmed(visitor, path)
    assert (await visitor.world.call("GET", "/api/stock?article_id=1&warehouse_id=1")).body["data"][0][
        "quantity"
    ] == 1000


async def test_confirmed_while_the_look_at_it_ends(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    note = upload_jobs._note

    def note_slowly(*given: Any) -> None:
        note(*given)
        time.sleep(1)  # the result is already visible, but the check is still running

    monkeypatch.setattr(upload_jobs, "_note", note_slowly)
    path, _ = await looked_at(visitor, "clients", "code,name\nLATE,One\n")
    await confirmed(visitor, path)
    assert await visitor.world.rows("SELECT name FROM clients WHERE code = 'LATE'") == [("One",)]


async def test_confirmed_twice_is_done_once(visitor: Visitor) -> None:
    path, seen = await looked_at(visitor, "clients", "code,name\nTWICE,Once\n")
    form = {"form_token": seen.form_token}
    sent = await asyncio.gather(*(visitor.post(f"{path}/confirm", form) for _ in range(4)))
    assert {each.status for each in sent} == {303}
    await settled(visitor, path)
    late = await visitor.post(f"{path}/confirm", form)
    assert late.status == 303
    await settled(visitor, path)
    assert await visitor.world.rows("SELECT kind, created, actor FROM imports") == [
        ("clients", 1, "ana@example.com")
    ]


NO_LISTS = {
    "a workbook": (b"PK\x03\x04" + bytes(100), "is an Excel workbook (.xlsx) or another zip file"),
    "NULs": (b"code,name\nA,B\0\n", "has a byte of value 0"),
    "an unknown column": (b"code,nmae\nA,B\n", "the column 'nmae' is unknown"),
    "an open quote": (b'code,name\nA,"B\n', "line 2: a quotation mark opens here and is never closed."),
}


@pytest.mark.parametrize("name", NO_LISTS)
async def test_what_is_no_list_is_answered_with_a_sentence(visitor: Visitor, name: str) -> None:
    content, sentence = NO_LISTS[name]
    _, seen = await looked_at(visitor, "clients", content)
    assert sentence in words(seen)
    assert "Import the file" not in words(seen)


async def test_unknown_columns_are_told_once_and_there_is_a_template(visitor: Visitor) -> None:
    _, seen = await looked_at(visitor, "articles", "Cod;Denumire;UM;Stoc minim\nA;Apple;pcs;1\n")
    told = [html.unescape(each) for each in re.findall(r"<li>(.*?)</li>", seen.text)]
    assert told[0] == "the column 'Cod' is unknown; did you mean code?"
    assert told[1].startswith(
        "the columns 'Denumire', 'UM', 'Stoc minim' are unknown; the known columns are code, name,"
    )
    assert (told[2:], words(seen).count("barcodes, unit_3pl")) == (["the column 'code' is missing."], 1)
    (template,) = re.findall(r'href="(\S+/imports/templates/\S+)"', seen.text)
    headings = await visitor.get(template)
    assert headings.headers["Content-Disposition"] == 'attachment; filename="articles.csv"'
    assert headings.text.strip() in words(seen).replace(", ", ",")


async def test_each_kind_has_a_template_that_can_be_imported(visitor: Visitor) -> None:
    form = (await visitor.get(NEW)).text
    kinds = re.findall(r'href="/companies/1/imports/templates/([a-z-]+).csv"', form)
    assert kinds == re.findall(r'<option value="([a-z-]+)"', form.partition("</select>")[0]) != []
    for kind in kinds:
        template = await visitor.get(f"/companies/1/imports/templates/{kind}.csv")
        outcome = await visitor.world.import_csv(kind, template.text)
        assert (outcome.created, outcome.updated) == (0, 0), kind
    _, seen = await looked_at(visitor, kinds[-1], template.text)
    assert "The file has only the line that names the columns" in words(seen)
    assert (await visitor.get("/companies/1/imports/templates/secrets.csv")).status == 404
    await visitor.world.new_user("member@example.com", "member", ["ACME"], ["*"])
    member = Visitor(visitor.world)
    await member.sign_in("member@example.com", PASSWORD)
    assert (await member.get("/companies/1/imports/templates/articles.csv")).status == 403


async def test_a_file_that_is_empty_or_of_no_kind(visitor: Visitor) -> None:
    empty = await upload(visitor, "clients", b"")
    assert (empty.status, "The file is empty, or was not chosen." in words(empty)) == (422, True)
    unknown = await upload(visitor, "secrets", b"code\n")
    assert (unknown.status, 'id="kind-error"' in unknown.text) == (422, True)


async def test_what_stands_in_the_way_of_taking_back_is_told(visitor: Visitor) -> None:
    path, _ = await looked_at(visitor, "articles", "code,name\nNEW,New\n")
    done = await confirmed(visitor, path)
    assert done.status == 303, words(done)
    number = (await visitor.world.call("GET", "/api/articles?code=NEW")).body["data"][0]["id"]
    await visitor.world.call("PATCH", f"/api/articles/{number}", {"name": "Theirs"}, events=["article.updated"])
    undo = await visitor.get("/companies/1/imports/1/undo")
    refused = await visitor.post("/companies/1/imports/1/undo", {"form_token": undo.form_token})
    assert refused.status == 409
    assert "Article NEW was changed after the import. Nothing was changed." in words(refused)


async def test_a_file_in_another_encoding_can_be_read_in_the_right_one(visitor: Visitor) -> None:
    content = "code;name\r\nC1;Źródło\r\n".encode("windows-1250")
    path, seen = await looked_at(visitor, "clients", content, encoding="windows-1252")
    assert "line 2 is not Windows-1252 text, but the file can be read as Windows-1250." in words(seen)
    chosen = await visitor.post(path, {"form_token": seen.form_token, "encoding": "windows-1250"})
    assert chosen.status == 303
    assert "Źródło" in words(await settled(visitor, path))
    await confirmed(visitor, path)
    assert ("C1", "Źródło") in await visitor.world.rows("SELECT code, name FROM clients")


async def test_a_guessed_encoding_is_told_with_a_name_as_it_was_read(visitor: Visitor) -> None:
    content = "code;name\r\nC1;Biała śruba\r\n".encode("windows-1250")
    path, seen = await looked_at(visitor, "clients", content)
    told = "guessed: row 2 reads “Biała śruba”; in Windows-1252 it would be “Bia³a œruba”"
    assert told in words(seen)
    await visitor.post(path, {"form_token": seen.form_token, "encoding": "windows-1250"})
    assert "guessed" not in words(await settled(visitor, path))


async def test_a_file_without_rows_is_not_imported(visitor: Visitor) -> None:
    path, seen = await looked_at(visitor, "clients", "code,name\n")
    assert "The file has only the line that names the columns, so there are no rows to import." in words(seen)
    assert "Import the file" not in words(seen)
    confirmed = await visitor.post(f"{path}/confirm", {"form_token": seen.form_token})
    assert confirmed.status == 409
    assert await visitor.world.rows("SELECT id FROM imports") == []


async def test_a_stock_count_has_the_reason_that_was_typed(visitor: Visitor) -> None:
    content = "article_code,warehouse_code,quantity\nA,MAIN,7\n"
    path, seen = await looked_at(visitor, "stock-count", content, reason="yearly count")
    assert "1 would be changed" in words(seen)
    await confirmed(visitor, path)
    assert ("yearly count",) in await visitor.world.rows("SELECT reason FROM stock_movements")
    long = await upload(visitor, "stock-count", content, {"reason": "x" * 300})
    assert (long.status, 'id="reason-error"' in long.text) == (422, True)


async def test_of_very_many_errors_the_first_are_kept_and_all_are_counted(visitor: Visitor) -> None:
    rows = "".join(f"C{n},Client,nobody {n}\n" for n in range(1500))
    path, seen = await looked_at(visitor, "clients", f"code,name,email\n{rows}")
    assert "The file cannot be imported while it has errors: 1 500." in words(seen)
    assert (
        "1 500 in total; only the first ones are shown. The CSV file has the first 1 000. "
        "The other errors are only counted." in words(seen)
    )
    assert "The first 1 000 as CSV" in words(seen)
    listed = (await visitor.get(f"{path}/errors.csv")).text.splitlines()
    assert (len(listed), listed[-1]) == (1002, ',,,"and 500 more errors, which are only counted"')


def errors_file(visitor: Visitor, path: str) -> Path:
    """Return the file of errors of the upload with this address."""
    folder = visitor.world.installation.folder.path
    return folder / "imports" / "1" / path.rpartition("/")[2] / "errors.csv"


async def test_the_list_of_errors_is_sent_whole_or_refused_whatever_becomes_of_its_file(visitor: Visitor) -> None:
    rows = "".join(f"C{number},Client,{'nobody' * 30} {number}\n" for number in range(1000))
    path, _ = await looked_at(visitor, "clients", f"code,name,email\n{rows}")
    file = errors_file(visitor, path)
    kept = file.read_bytes()
    answers = [asyncio.create_task(visitor.get(f"{path}/errors.csv")) for _ in range(20)]
    while not all(each.done() for each in answers):  # simulates a new check of the file during the requests
        file.write_bytes(b"")
        await asyncio.sleep(0)
        file.write_bytes(kept)
        await asyncio.sleep(0)
    for answer in answers:
        seen = answer.result()
        assert (seen.status, seen.headers["Content-Length"]) == (200, str(len(seen.text.encode())))
    for status in (404, 500):
        file.unlink()
        if status == 500:
            file.mkdir()  # a folder cannot be read as a file, not even by root
        refused = await visitor.get(f"{path}/errors.csv", {"Accept": "text/html"})
        assert (refused.status, "<h1>" in refused.text) == (status, True)
        if status == 404:
            file.write_bytes(kept)
    file.rmdir()
    file.write_bytes(kept)
    seen = await visitor.get(f"{path}/errors.csv")
    assert (seen.text.encode(), seen.headers["Content-Type"]) == (kept, "text/csv; charset=utf-8")
