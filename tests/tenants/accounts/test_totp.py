"""One-time codes follow RFC 6238."""

import base64
from datetime import UTC, datetime

import pytest

from wmsd.tenants.accounts import totp

SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_the_codes_of_the_standard(seconds: int, code: str) -> None:
    """The expected codes are the last six digits of those in RFC 6238, appendix B."""
    assert totp.code_at(SECRET, seconds // 30) == code


@pytest.mark.parametrize(("away", "is_good"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_step_of_difference_is_borne(away: int, is_good: bool) -> None:
    now = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    current = int(now.timestamp()) // 30
    found = totp.step_of(SECRET, totp.code_at(SECRET, current + away), now, 0)
    assert found == (current + away if is_good else None)


def test_no_step_is_good_twice_nor_one_before() -> None:
    now = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    current = int(now.timestamp()) // 30
    for away in (-1, 0):
        assert totp.step_of(SECRET, totp.code_at(SECRET, current + away), now, current) is None


@pytest.mark.parametrize("code", ["", "1", "28708", "2870822", "ABCDEF", "\uff12\uff18\uff17\uff10\uff18\uff12"])
def test_what_is_no_code(code: str) -> None:
    assert totp.step_of(SECRET, code, datetime.fromtimestamp(59, UTC), 0) is None


def test_the_link_for_apps() -> None:
    assert totp.uri("ABC", "a b@example.com") == "otpauth://totp/wmsd:a%20b%40example.com?secret=ABC&issuer=wmsd"
