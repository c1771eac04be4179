"""The rules for a new password."""

import pytest

from tests.support.world import PASSWORD
from wmsd.tenants.accounts.password_strength import chosen_password_errors, password_errors

EASY = {"password": ["is too easy to guess: choose four unrelated words"]}
LENGTH = {"password": ["must have from 10 to 1024 characters"]}


def errors(password: str, name: str = "Ana Maria Ionescu") -> object:
    return password_errors(password, "ana.ionescu@example.com", name)


@pytest.mark.parametrize("password", ["", "short", "x" * 9, "x" * 1025])
def test_the_length(password: str) -> None:
    assert errors(password) == LENGTH


def test_the_length_and_the_repetition_of_a_password_are_of_its_letters() -> None:
    """Length and repetition are counted in letters: an accent may be typed as a separate character."""
    assert errors("e\u0301" * 9) == LENGTH
    chosen, again = "Crème brûlée à midi 7", "Cre\u0300me bru\u0302le\u0301e a\u0300 midi 7"
    assert chosen_password_errors(chosen, again, "ana@example.com", "Ana") == {}
    assert chosen_password_errors(chosen, again[:-1], "ana@example.com", "Ana") == {
        "again": ["does not match the password"]
    }


@pytest.mark.parametrize(
    "password",
    [
        *("1234567890", "password123", "Password123!", "qwertyuiop", "aaaaaaaaaa", "abcdefghij", "1q2w3e4r5t"),
        *("Warehouse2026", "warehouse-2026", "Depozit2026", "wmsd-warehouse", "P@ssw0rd2024", "letmein1234"),
        *("secret secret", "Password password", "admin-admin-admin"),
        *("x" * 72, "x" * 1024, "1234567890" * 100),
    ],
)
def test_what_everybody_guesses(password: str) -> None:
    assert errors(password) == EASY


@pytest.mark.parametrize("password", ["aMaDeUsPtFcOr", "qAzWsXeDcRfVtGb", "iLoVeMyFaMiLy"])
def test_a_common_password_however_it_is_capitalised(password: str) -> None:
    assert errors(password) == EASY


@pytest.mark.parametrize(
    "password",
    [
        *("ana.ionescu@example.com", "ANA.IONESCU@EXAMPLE.COM", "ana.ionescu", "Ana.IonescuAna.Ionescu"),
        *("ana.ionescu@example.com" * 2, "Ana Maria Ionescu", "anamariaionescu", "ionescu2026", "ionescuana"),
    ],
)
def test_what_everybody_knows_of_the_user(password: str) -> None:
    assert errors(password) == EASY


@pytest.mark.parametrize("name", ["", "Ana", "A B C D E F G H I J K L M N"])
@pytest.mark.parametrize(
    "password",
    [
        PASSWORD,
        "a long password",
        "kT9#vQ2x!m",
        "blue-tractor-41",
        "mara si ion pe deal",
        "ăîșțâ-ăîșțâx-9",
        "#%(!&$)=?*+",
    ],
)
def test_what_nobody_guesses(password: str, name: str) -> None:
    assert errors(password, name) == {}


def test_one_user_does_not_make_the_passwords_of_the_next_easy() -> None:
    assert password_errors("zanzibarquokka", "zanzibar.quokka@example.com", "") == EASY
    assert password_errors("zanzibarquokka", "ana@example.com", "Ana") == {}


def test_of_a_long_password_the_beginning_is_looked_at() -> None:
    assert errors("correct horse battery " * 40) == {}
    assert errors("@4(301!|5$7+%2z[<6" * 56) == {}, "all 1008 characters would take hours"
