"""What people call a browser, from the `User-Agent` that it sends."""

from typing import Final

from wmsd.interfaces.pages.kit.text.language import translated as _

BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""In an order in which each stands before those whose names it sends too."""
SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def named(agent: str) -> str:
    """Such as `Chrome on Windows`; what nobody knows stays as it is."""
    browser = next((name for mark, name in BROWSERS if mark in agent), None)
    system = next((name for mark, name in SYSTEMS if mark in agent), None)
    if browser is None or system is None:
        return agent or _("unknown")
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
