"""A barcode on paper contains its original text for every reader; a text that no barcode can hold gets no
barcode.
"""

import subprocess
import sys

import pytest
from markupsafe import Markup
from zxingcpp import BarcodeFormat, ContentType

from tests.support.drawn_barcodes import barcodes_in
from wmsd.interfaces.pages.kit.barcodes import code_barcode, gs1_barcode, gtin_of, product_barcode, qr_code

GTIN = "05901234123457"


def read(drawn: Markup | None) -> tuple[str, BarcodeFormat]:
    assert drawn is not None
    (found,) = barcodes_in(drawn)
    return found.text, found.format


@pytest.mark.parametrize("text", ["A", "SO-000123", "abc 12/x", "\"<&>'", "00012345678905", "x" * 18])
def test_a_code_is_read_back_from_bars(text: str) -> None:
    assert read(code_barcode(text)) == (text, BarcodeFormat.Code128)


@pytest.mark.parametrize("text", ["x" * 64, "y" * 200, "Șurub 6 mm", "日本", "ü", "\N{PACKAGE}"])
def test_what_bars_hold_badly_is_read_back_from_a_square(text: str) -> None:
    assert read(code_barcode(text)) == (text, BarcodeFormat.QRCode)


def test_control_characters_spoil_no_page() -> None:
    (found,) = barcodes_in(code_barcode("A\x1b\n\x00") or "")
    assert (found.bytes, found.format) == (b"A\x1b\n\x00", BarcodeFormat.QRCode)


@pytest.mark.parametrize("text", ["", "x" * 5000])
def test_what_no_barcode_can_hold_has_none(text: str) -> None:
    assert (code_barcode(text), qr_code(text)) == (None, None)


@pytest.mark.parametrize(
    ("gtin", "is_read"),
    [
        ("96385074", BarcodeFormat.EAN8),
        ("012345678905", BarcodeFormat.UPCA),
        ("5901234123457", BarcodeFormat.EAN13),
        ("15400141288763", BarcodeFormat.ITF),
    ],
)
def test_a_gtin_is_read_back_as_tills_do(gtin: str, is_read: BarcodeFormat) -> None:
    assert gtin_of(gtin) == gtin.zfill(14)
    text, found = read(product_barcode(gtin))
    assert text.zfill(14) == gtin.zfill(14)
    assert found in (is_read, BarcodeFormat.EAN13)  # readers see UPC-A as EAN-13 with a leading zero


@pytest.mark.parametrize("text", ["", "5901234123456", "590123412345", "59012341234 7", "٥٩٠١٢٣٤١٢٣٤٥٧", "A"])
def test_what_has_not_the_digits_of_a_gtin_is_none(text: str) -> None:
    assert gtin_of(text) is None


@pytest.mark.parametrize(
    ("lot", "is_read"), [("LOT-1", BarcodeFormat.Code128), ("LOT-1234567890-ABCDE", BarcodeFormat.QRCode)]
)
def test_a_lot_is_read_back_as_gs1(lot: str, is_read: BarcodeFormat) -> None:
    (found,) = barcodes_in(gs1_barcode(GTIN, {"10": lot}) or "")
    assert (found.text, found.format) == (f"(01){GTIN}(10){lot}", is_read)
    assert found.content_type == ContentType.GS1


@pytest.mark.parametrize("lot", ["A[21]B", "lot 1", "Ș1", "x" * 21, ""])
def test_a_lot_never_says_something_else(lot: str) -> None:
    """Brackets would start another part of a GS1 code."""
    assert gs1_barcode(GTIN, {"10": lot}) is None


def test_parentheses_stay_a_part_of_the_lot() -> None:
    (found,) = barcodes_in(gs1_barcode(GTIN, {"10": "A(21)B"}) or "")
    assert found.bytes == f"01{GTIN}10A(21)B".encode()


def test_nothing_is_loaded_before_somebody_needs_a_barcode() -> None:
    """Every start of the server would take longer."""
    asked = "import sys, wmsd.interfaces.pages.routes; print('zxingcpp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
