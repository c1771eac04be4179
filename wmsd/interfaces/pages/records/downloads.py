"""Lists as CSV files, in pieces: each is read when the one before it is with the browser, so a download holds one
piece, and lets ordinary requests go first.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from wmsd.base.problems import Problem, or_not_found
from wmsd.contract import csv_cells
from wmsd.contract.operation import Operation
from wmsd.db.sql.csv_lines import END, csv_line
from wmsd.dispatch.limits.costs import Payers
from wmsd.imports.exports import as_export, as_lines, can_be_exported
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.request_log import CALL
from wmsd.interfaces.pages.kit import filters
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.rendering import HEADERS
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.kit.text import zone
from wmsd.interfaces.pages.kit.workplace import CompanyWorkplace, Workplace

EXPORTS: Final[Mapping[str, Operation]] = {
    resource.name: as_export(resource.walking, resource.name)
    for resource in RESOURCES
    if can_be_exported(resource.name)
}
"""By the name of the resource, which is that of the kind."""
NOT_IN_A_CELL: Final = ("table", "facts")
FORMAT: Final = "format"
FOR_IMPORT: Final = "import"
PLACE: Final = ("page", "cursor")
"""Parameters that say where in a list one is."""
RECORDS_AT_ONCE: Final = 500
PATIENCE_SECONDS: Final = 60.0
"""How long a browser may take for a piece. One that takes longer would hold the place of others."""


class ListFile(NamedTuple):
    name: str
    """The beginning of the file's name."""
    walking: Operation
    """Its answers are lines (see `Lines`)."""
    columns: Sequence[str]
    moments: Collection[str] = ()
    """The columns that are by the clocks of the page."""

    @property
    def headings(self) -> list[str]:
        """A file leaves the page, so it says of which time zone its moments are."""
        return [f"{each} ({zone.name()})" if each in self.moments else each for each in self.columns]


def for_import(resource: Resource) -> ListFile:
    """Raises Problem (404) where there is no such import."""
    walking = or_not_found(EXPORTS.get(resource.name), "page")
    return ListFile(f"{resource.name}-for-import", walking, list(KINDS[resource.name].columns))


def for_spreadsheets(resource: Resource) -> ListFile:
    """With the fields that have one value."""
    fields = [field for field in resource.fields.values() if field.kind not in NOT_IN_A_CELL]
    columns = [each.name for each in fields]
    moments = frozenset(each.name for each in fields if each.kind == "moment")
    walking = as_lines(resource.walking, columns, moments, zone.current.get().zone)
    return ListFile(resource.name, walking, columns, moments)


class Piece(NamedTuple):
    text: bytes
    seconds: float
    """Of the processor."""


async def csv(at: Workplace, request: web.Request) -> web.StreamResponse:
    """Every record of the list. What a spreadsheet would run as a formula is written so that it is text."""
    resource = at.resource(request.match_info["resource"])
    is_for_import = request.query.get(FORMAT) == FOR_IMPORT
    file = for_import(resource) if is_for_import else for_spreadsheets(resource)
    asked = await filters.read(at, resource, request.query)
    if asked.errors:
        raise Problem("VALIDATION_FAILED", "Correct the filters of the list first.")
    if asked.is_cut:
        raise Problem("VALIDATION_FAILED", "Not all that match were looked through. Narrow the filters first.")
    async with at.door.work.turn("download", _payers(at, request)) as turn:
        pieces = _pieces(at, resource, file, asked)
        first = await anext(pieces)
        response = web.StreamResponse(headers={**HEADERS, "Content-Disposition": _disposition(at, file)})
        response.content_type, response.charset = "text/csv", "utf-8"
        await response.prepare(request)
        if request.method == "HEAD":  # aiohttp would send what is written, in the place of the next answer
            return response
        heading = f"{csv_line([csv_cells.write_cell(name) for name in file.headings])}{END}".encode()
        await _send(response, heading + first.text)
        await turn.pay(first.seconds, len(first.text))
        async for piece in pieces:
            await _send(response, piece.text)
            await turn.pay(piece.seconds, len(piece.text))
    await response.write_eof()
    return response


async def _send(response: web.StreamResponse, text: bytes) -> None:
    """Raises ConnectionResetError for a browser that takes nothing: its answer is broken off."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await response.write(text)
    except TimeoutError:
        raise ConnectionResetError("The browser took too long.") from None


def _payers(at: Workplace, request: web.Request) -> Payers:
    caller = request[CALL].caller
    assert caller is not None
    company = at.id if isinstance(at, CompanyWorkplace) else ""
    return Payers(company, str(caller.actor.user_id), at.person.browser.address)


def _disposition(at: Workplace, file: ListFile) -> str:
    return f'attachment; filename="{file.name}-{at.code}-{zone.today()}.csv"'


async def _pieces(
    at: Workplace, resource: Resource, file: ListFile, wanted: filters.Asked
) -> AsyncIterator[Piece]:
    """Raises Problem for a refusal, which may also come between two pieces: the session may end."""
    walked = resource.walking.query
    assert walked is not None
    known = {
        name: value for name, value in wanted.query.items() if name in walked.model_fields and name not in PLACE
    }
    asked, is_counted = {**known, "per_page": str(RECORDS_AT_ONCE)}, False
    while True:
        answer = await at.ask(file.walking, query=asked, is_counted=is_counted, is_long=True, within=wanted.within)
        body = answer.needed()
        yield Piece(body["data"][0]["text"].encode(), float(body["seconds"]))
        if body["next_cursor"] is None:
            return
        asked, is_counted = {**asked, "cursor": body["next_cursor"]}, True
