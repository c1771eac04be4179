"""Checks of a page for accessibility barriers, each in light or dark mode and at one width.

Most elements of a page are of kinds that earlier pages have too. Therefore colours are checked only in elements of
new kinds, and a page without new kinds only for its width. When the run is THOROUGH, everything is checked
everywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from playwright.sync_api import Page

from tests.support.chromium import COLOURS, KINDS, MARK, MARKED, found_by_axe, photograph, too_wide
from tests.support.thorough import IS_THOROUGH

SCREENS: Final = {"phone": 390, "tablet": 820, "screen": 1440}
WITHOUT_COLOURS: Final[dict[str, Any]] = {"rules": {rule: {"enabled": False} for rule in COLOURS}}
ONLY_COLOURS: Final[dict[str, Any]] = {"runOnly": list(COLOURS)}


@dataclass
class Look:
    """A width, a mode, and the rules of axe to check. The rules differ, because axe finds mostly the same at each
    width.

    "all" checks colours in elements of new kinds, and all other rules on a page with new kinds. "all but colours
    of new kinds" checks the other rules in elements of new kinds, "colours" only colours there, and "none" only
    the width of the page.
    """

    screen: str
    scheme: Literal["light", "dark"]
    rules: Literal["all", "all but colours of new kinds", "colours", "none"]
    known: set[str] = field(default_factory=set)
    """The kinds of elements seen so far."""

    @property
    def name(self) -> str:
        return f"{self.screen}-{self.scheme}"

    def show(self, page: Page) -> None:
        page.set_viewport_size({"width": SCREENS[self.screen], "height": 900})
        page.emulate_media(color_scheme=self.scheme)

    def barriers(self, page: Page) -> Iterator[str]:
        yield from too_wide(page)
        if self.rules == "none":
            return
        if IS_THOROUGH:
            yield from found_by_axe(page, ONLY_COLOURS if self.rules == "colours" else {})
            return
        new = set(page.evaluate(KINDS)) - self.known
        if not new:
            return
        self.known |= new
        page.evaluate(MARK, [*new])
        if self.rules == "all":
            yield from found_by_axe(page, WITHOUT_COLOURS)
        has_colours = self.rules != "all but colours of new kinds"
        yield from found_by_axe(page, ONLY_COLOURS if has_colours else WITHOUT_COLOURS, MARKED)


def looked_at(page: Page, path: str, looks: Sequence[Look], name: str, is_whole: bool = True) -> dict[str, Any]:
    """Return the barriers of the page for each look. `name` and `is_whole` are for the screenshots."""
    looks[0].show(page)
    page.goto(path)
    wrong = {}
    for look in looks:
        look.show(page)
        photograph(page, f"{name}-{look.name}", is_whole)
        if found := [*look.barriers(page)]:
            wrong[look.name] = found
    return wrong
