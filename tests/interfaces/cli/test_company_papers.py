"""`wmsd company papers`."""

from pathlib import Path

from tests.support.command import Home
from tests.support.pictures import JPEG, png

EMPTY = {
    "name": None,
    "address": None,
    "tax_id": None,
    "phone": None,
    "label_size": None,
    "logo": None,
}


def papers(home: Home, *options: str) -> dict[str, object]:
    return dict(home.ok("company", "papers", "ACME", *options, "--json").json)


def logo_file(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "logo.bin"
    path.write_bytes(content)
    return str(path)


def test_the_papers_of_a_company_are_shown_and_set(shared: Home) -> None:
    assert papers(shared) == EMPTY
    set_ = papers(shared, "--name", "Acme SRL", "--address-city", "Cluj", "--label-size", "label-62x29")
    address = {"street": None, "city": "Cluj", "postal_code": None, "country": None}
    assert set_ == {**EMPTY, "name": "Acme SRL", "address": address, "label_size": "label-62x29"}
    assert papers(shared, "--address-street", "Main 1", "--name", "") == {
        **set_,
        "name": None,
        "address": {**address, "street": "Main 1"},
    }


def test_a_logo_is_given_and_taken_away(shared: Home, tmp_path: Path) -> None:
    given = papers(shared, "--logo", logo_file(tmp_path, png(120, 40)))
    assert isinstance(given["logo"], dict)
    assert {name: given["logo"][name] for name in ("media_type", "width", "height", "bytes")} == {
        "media_type": "image/png",
        "width": 120,
        "height": 40,
        "bytes": len(png(120, 40)),
    }
    other = papers(shared, "--logo", logo_file(tmp_path, JPEG))
    assert isinstance(other["logo"], dict)
    assert other["logo"]["media_type"] == "image/jpeg"
    assert papers(shared, "--no-logo")["logo"] is None


def test_all_or_nothing_is_changed(shared: Home, tmp_path: Path) -> None:
    before = papers(shared)
    bad = logo_file(tmp_path, b"<svg/>")
    sentence = shared.refused("company", "papers", "ACME", "--phone", "999", "--logo", bad)
    assert sentence == "--logo is an SVG file, which can hold programs; save it as PNG."
    huge = logo_file(tmp_path, png() + b"\0" * 200_000)
    assert shared.refused("company", "papers", "ACME", "--logo", huge) == "--logo is larger than 200 kB."
    assert papers(shared) == before


def test_what_contradicts_itself_is_refused(shared: Home, tmp_path: Path) -> None:
    logo = logo_file(tmp_path, png())
    said = shared.misunderstood("company", "papers", "ACME", "--logo", logo, "--no-logo")
    assert said.endswith("Give --logo or --no-logo, not both.")
