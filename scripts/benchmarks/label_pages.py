"""The time until Chromium displays a page with the highest allowed number of labels."""

import os
import shutil
import statistics
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.figures import LABELS_OPENED, Figure
from benchmarks.processes import Server, progress
from benchmarks.size import sized

LABELS: Final = sized(1000, 3)
ROUNDS: Final = sized(5, 1)
SIZES: Final = ("label-sheet", "label-62x29", "label-100x150")
PATH: Final = f"/companies/1/articles/1/labels?kind=article&size={{size}}&count={LABELS}"
FLAGS: Final = ("--no-sandbox", "--disable-gpu")
SHORT: Final = {"TMPDIR": "/tmp"}
"""A short folder for Chromium's socket, because the path of a socket may have at most 107 bytes."""
DRAWN: Final = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"""
"""JavaScript that waits until the page is drawn."""


def measure(wmsd: Server, cookie: str) -> Iterator[Figure]:
    """Measure the seconds until the page is displayed. The result is the median of the slowest label size."""
    chromium = shutil.which("chromium-headless-shell")
    if chromium is None:
        yield Figure(LABELS_OPENED, "s", None, note="needs Chromium: sudo apt install chromium-headless-shell")
        return
    yield Figure(LABELS_OPENED, "s", max(_seconds(wmsd, cookie, chromium, size) for size in SIZES))


def _seconds(wmsd: Server, cookie: str, chromium: str, size: str) -> float:
    from playwright.sync_api import sync_playwright

    name, _, value = cookie.partition("=")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS, env={**os.environ, **SHORT})
        for _ in range(ROUNDS):
            context = browser.new_context(base_url=wmsd.url)
            context.add_cookies([{"name": name, "value": value, "url": wmsd.url}])
            page = context.new_page()
            began = time.perf_counter()
            page.goto(PATH.format(size=size), wait_until="load")
            page.evaluate(DRAWN)
            found.append(time.perf_counter() - began)
            context.close()
        browser.close()
    progress(f"{LABELS_OPENED}, {size}: {', '.join(f'{each:.2f}' for each in found)} s")
    return statistics.median(found)
