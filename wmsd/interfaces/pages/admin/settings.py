"""The page Settings: every setting in force and its source."""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.letters import plain
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.admin_menu import SETTINGS
from wmsd.interfaces.pages.kit.responses import page_of
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace

LONGEST_SEARCH: Final = 64
SOURCES: Final = ("default", "file", "environment", "command line")


async def show(at: Workplace, request: web.Request) -> web.Response:
    found = await at.need(SETTINGS.reads)
    given = {name: request.query[name] for name in ("search", "source") if request.query.get(name)}
    translated = [{**each, "says": _(each["says"])} for each in found["data"]]
    chosen = [each for each in translated if _fits(each, given)]
    return page_of(
        at,
        "settings",
        SETTINGS.name,
        file=found["file"],
        settings=chosen,
        given=given,
        sources=SOURCES,
        longest=LONGEST_SEARCH,
    )


def _fits(setting: Mapping[str, Any], given: Mapping[str, str]) -> bool:
    search = plain(given.get("search", "")[:LONGEST_SEARCH])
    return search in plain(f"{setting['name']} {setting['says']}") and (
        given.get("source", setting["source"]) == setting["source"]
    )
