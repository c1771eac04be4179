"""The right to upload a file for an import, and the limit for stored uploads."""

from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_import_files import NEW, STOCK, confirmed, looked_at, upload, visitor, words
from tests.support.world import PASSWORD, all_rows
from wmsd.db.sql.statements import update_row

__all__ = ["visitor"]  # a fixture


async def test_who_may_not(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_company("OTHER")
    await world.new_user("member@example.com", "member", ["ACME"], ["*"])
    await world.new_user("theirs@example.com", "company-admin", ["OTHER"])
    path, _ = await looked_at(visitor, "clients", "code,name\nN,New\n")
    before = await (await world.database()).read(all_rows)
    for email, status in (("member@example.com", 403), ("theirs@example.com", 404)):
        other = Visitor(world)
        await other.sign_in(email, PASSWORD)
        token = (await other.get("/account")).form_token
        assert (await other.get("/companies/1/imports")).status == status
        assert (await other.get(path)).status == status
        assert (await other.post(f"{path}/confirm", {"form_token": token})).status == status
        assert (await upload(other, "clients", b"code,name\nN,New\n", token=token)).status == status
    theirs = Visitor(world)
    await theirs.sign_in("theirs@example.com", PASSWORD)
    assert (await theirs.get(path.replace("/1/", "/2/"))).status == 404  # the upload of another company
    assert await (await world.database()).read(all_rows) == before


async def test_forms_of_others_are_refused_before_anything_is_written(visitor: Visitor) -> None:
    for options in ({"token": "none"}, {"token": "x" * 64}, {"site": "cross-site"}):
        assert (await upload(visitor, "clients", b"code,name\nN,New\n", None, **options)).status == 403
    kept = list((visitor.world.installation.folder.path / "imports").rglob("file"))
    assert kept == []


async def test_a_module_that_is_off(visitor: Visitor) -> None:
    await visitor.world.set_module("ACME", "stock", False)
    assert "Stock count" not in words(await visitor.get(NEW))
    refused = await upload(visitor, "stock", f"{STOCK}A;MAIN;1\r\n")
    assert refused.status == 403
    assert "The module stock is off for this company." in words(refused)


async def test_only_the_newest_uploads_are_kept(visitor: Visitor) -> None:
    paths = [(await looked_at(visitor, "clients", f"code,name\nN{n},New\n"))[0] for n in range(6)]
    assert [(await visitor.get(path)).status for path in (paths[0], paths[-1])] == [404, 200]
    place = visitor.world.installation.folder.path / "imports" / "1"
    assert len(list(place.iterdir())) == 5
    assert {each.stat().st_mode & 0o077 for each in place.rglob("*")} == {0}


async def test_uploads_count_in_the_quota(visitor: Visitor) -> None:
    """A file that exceeds the quota is refused as it arrives, and every file is refused when the quota is used
    up.
    """
    world = visitor.world
    used = await (await world.database()).read(lambda tx: tx.bytes_used())
    changes = {"quota_megabytes": used // 1_000_000 + 1}
    await world.installation.platform.write(lambda tx: update_row(tx, "companies", 1, changes))
    large = await upload(visitor, "clients", b"code,name\n" + b"A,B\n" * 250_000)
    assert (large.status, "larger than the space that the company has left" in words(large)) == (413, True)
    path, seen = await looked_at(visitor, "clients", b"code,name\nC9,New\n")
    assert "1 would be created" in words(seen)
    place = world.installation.folder.path / "imports" / "1" / path.rpartition("/")[2]
    (place / "other").write_bytes(bytes(1_000_000))
    refused = await upload(visitor, "clients", b"code,name\nC8,New\n")
    assert (refused.status, "The quota of" in words(refused)) == (507, True)
    refused = await visitor.post(f"{path}/confirm", {"form_token": seen.form_token})
    assert refused.status == 507
    assert await world.rows("SELECT count(*) FROM clients WHERE code = 'C9'") == [(0,)]


async def test_an_import_takes_no_more_than_the_quota_has_left(visitor: Visitor) -> None:
    """An upload of 0.4 MB becomes 30 MB of records, events and index entries."""
    world = visitor.world
    await world.installation.platform.write(lambda tx: update_row(tx, "companies", 1, {"quota_megabytes": 8}))
    rows = "".join(f"Q{number},Article {number}\n" for number in range(20_000))
    path, seen = await looked_at(visitor, "articles", f"code,name\n{rows}")
    assert "20000 would be created" in words(seen).replace(" ", " ").replace("20 000", "20000")
    refused = await confirmed(visitor, path)
    assert "MB that the company may still add. Nothing was imported. Import fewer rows" in words(refused)
    assert await world.rows("SELECT count(*) FROM articles WHERE code LIKE 'Q%'") == [(0,)]
    assert await (await world.database()).read(lambda tx: tx.bytes_used()) < 8_000_000
    path, _ = await looked_at(visitor, "articles", "code,name\nQ1,Article\n")
    assert (await confirmed(visitor, path)).status == 303
