"""The chart of a quantity: each step holds until the next one, and a text says the same."""

from decimal import Decimal
from typing import Any

from wmsd.interfaces.pages.records.chart import chart_of


def levels(*found: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"at": f"2026-11-{at}.000Z", "quantity": quantity} for at, quantity in found]


def test_a_quantity_holds_until_the_next_one() -> None:
    chart = chart_of(levels(("10T00:00:00", 0), ("15T00:00:00", 64)), "2026-11-20T00:00:00.000Z", None)
    assert chart.steps == "M0 136.0H400.0V8.0H800"
    assert chart.area == "M0 136.0H400.0V8.0H800V136.0H0Z"
    assert (chart.begins, chart.ends, chart.highest, chart.lowest) == ("10 November", "20 November", "64", "0")
    assert chart.minimum is None
    assert chart.words == ("Quantity from 10 November to 20 November: first 0, highest 64, lowest 0, last 64.")


def test_the_minimum_is_within_the_chart() -> None:
    """The chart includes the minimum even if all quantities are below it."""
    found = levels(("10T00:00:00", 5), ("11T00:00:00", Decimal("2.5")))
    assert chart_of(found, "2026-11-12T00:00:00.000Z", 10).minimum == "8.0"
    assert chart_of(found, "2026-11-12T00:00:00.000Z", Decimal("2.5")).minimum == "72.0"
    assert chart_of(found, "2026-11-12T00:00:00.000Z", 0).minimum == "136.0"


def test_within_a_day_it_says_the_times() -> None:
    chart = chart_of(levels(("10T08:00:00", 1)), "2026-11-10T09:30:00.000Z", None)
    assert (chart.steps, chart.begins, chart.ends) == ("M0 8.0H800", "08:00", "09:30 UTC")


def test_nothing_at_all_is_a_line_at_the_bottom() -> None:
    assert chart_of(levels(("10T08:00:00", 0)), "2026-11-10T08:00:00.000Z", None).steps == "M0 136.0H800"


def test_it_never_goes_back() -> None:
    """The chart moves forward even if the clock was set back."""
    found = levels(("10T00:00:00", 0), ("15T00:00:00", 2), ("12T00:00:00", 1), ("30T00:00:00", 3))
    chart = chart_of(found, "2026-11-20T00:00:00.000Z", None)
    assert [step.partition("V")[0] for step in chart.steps.split("H")[1:]] == ["400.0", "400.0", "800.0", "800"]
