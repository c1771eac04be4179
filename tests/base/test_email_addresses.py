"""Tests of users' e-mail addresses: one form for each mailbox."""

import unicodedata

import pytest

from wmsd.base.email_addresses import check_mailbox, forms_of_mailbox, mailbox_of

JOSE = "josé@example.com"


@pytest.mark.parametrize(
    ("typed", "mailbox"),
    [
        ("Ana@Example.COM", "ana@example.com"),
        ("JOSÉ@Example.com", JOSE),
        ("jose\u0301@example.com", JOSE),
        ("STRAßE@example.com", "straße@example.com"),
        ("y@müller.example", "y@xn--mller-kva.example"),
        ("y@MU\u0308LLER.example", "y@xn--mller-kva.example"),
        ("y@xn--mller-kva.example", "y@xn--mller-kva.example"),
        ("y@XN--MLLER-KVA.example", "y@xn--mller-kva.example"),
        ("y@straße.example", "y@xn--strae-oqa.example"),
        ("y@müller。example", "y@xn--mller-kva.example"),
        ("root@my_host", "root@my_host"),
    ],
)
def test_one_mailbox_has_one_form(typed: str, mailbox: str) -> None:
    assert mailbox_of(typed) == check_mailbox(typed) == mailbox
    assert check_mailbox(mailbox) == mailbox


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "ana",
        "@",
        "a@b@c",
        "a b@c",
        "a@",
        "an\u200ba@b.c",
        "a@\u202eb.c",
        "a@ü" + "b" * 70,
        "ü@" + "é.ü." * 60 + "ü",
        "é@" + "\u0301" * 500_000,
    ],
)
def test_what_no_user_can_have(typed: str) -> None:
    with pytest.raises(ValueError, match="must be an e-mail address"):
        check_mailbox(typed)
    assert isinstance(mailbox_of(typed), str)
    assert typed.lower() == forms_of_mailbox(typed)[0]


def test_an_address_in_ascii_has_one_form() -> None:
    assert forms_of_mailbox("Ana@Example.com") == ("ana@example.com",)


@pytest.mark.parametrize("address", ["josé@müller.example", "nguyễn@straße.example"])
def test_whatever_form_is_stored_it_is_found_by_each(address: str) -> None:
    local, _, domain = address.partition("@")
    punycode = mailbox_of(address).partition("@")[2]
    forms = {
        unicodedata.normalize(form, f"{local}@") + unicodedata.normalize(other, each)
        for form in ("NFC", "NFD")
        for other in ("NFC", "NFD")
        for each in (domain, punycode)
    }
    for form in forms:
        assert set(forms_of_mailbox(form.upper().replace("SS", "ß"))) >= forms
        assert forms_of_mailbox(form)[0] == form
