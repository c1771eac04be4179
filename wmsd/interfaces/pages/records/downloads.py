"""Lists as CSV files.

A file is sent in pieces. Each piece is read only after the browser has received the previous piece. So a download
has only one piece in memory, and ordinary requests come first.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from wmsd.base.problems import Problem, or_not_found
from wmsd.contract import csv_cells
from wmsd.contract.operation import Operation
from wmsd.db.sql.csv_lines import END, csv_line
from wmsd.dispatch.call import Piece
from wmsd.dispatch.limits.costs import Payers
from wmsd.imports.exports import as_export, as_lines, can_be_exported
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.pieces import send_pieces
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
"""The export operations. The key is the name of the resource, which is also the kind of records in an import."""
NOT_IN_A_CELL: Final = ("table", "facts")
FORMAT: Final = "format"
FOR_IMPORT: Final = "import"
PLACE: Final = ("page", "cursor")
"""The query parameters that select a page of a list."""
RECORDS_AT_ONCE: Final = 500


class ListFile(NamedTuple):
    name: str
    """The beginning of the file's name."""
    walking: Operation
    """The operation that reads the records. Its answer has lines of CSV (see `Lines`)."""
    columns: Sequence[str]
    moments: Collection[str] = ()
    """The columns with times in the time zone of the page."""

    @property
    def headings(self) -> list[str]:
        """The headings of the columns. The heading of a column with times names the time zone."""
        return [f"{each} ({zone.name()})" if each in self.moments else each for each in self.columns]


def for_import(resource: Resource) -> ListFile:
    """Return the file for a later import. Raise Problem (404) if records of this kind cannot be imported."""
    walking = or_not_found(EXPORTS.get(resource.name), "page")
    return ListFile(f"{resource.name}-for-import", walking, list(KINDS[resource.name].columns))


def for_spreadsheets(resource: Resource) -> ListFile:
    """Return the file for spreadsheets. It leaves out fields that do not fit in one cell."""
    fields = [field for field in resource.fields.values() if field.kind not in NOT_IN_A_CELL]
    columns = [each.name for each in fields]
    moments = frozenset(each.name for each in fields if each.kind == "moment")
    walking = as_lines(resource.walking, columns, moments, zone.current.get().zone)
    return ListFile(resource.name, walking, columns, moments)


async def csv(at: Workplace, request: web.Request) -> web.StreamResponse:
    """Send every record of the list as CSV. A spreadsheet could run some texts as formulas; these texts are
    changed.
    """
    resource = at.resource(request.match_info["resource"])
    is_for_import = request.query.get(FORMAT) == FOR_IMPORT
    file = for_import(resource) if is_for_import else for_spreadsheets(resource)
    asked = await filters.read(at, resource, request.query)
    if asked.errors:
        raise Problem("VALIDATION_FAILED", "Correct the filters of the list first.")
    if asked.is_cut:
        raise Problem(
            "VALIDATION_FAILED", "Too many records match to search all of them. Narrow the filters first."
        )
    async with at.door.work.turn("download", _payers(at, request)) as turn:
        pieces = _pieces(at, resource, file, asked)
        first = await anext(pieces)  # before the response starts, so that a refusal is a normal answer
        response = web.StreamResponse(headers={**HEADERS, "Content-Disposition": _disposition(at, file)})
        response.content_type, response.charset = "text/csv", "utf-8"
        heading = f"{csv_line([csv_cells.write_cell(name) for name in file.headings])}{END}".encode()
        begun = first._replace(text=heading + first.text)
        return await send_pieces(request, response, turn, _beginning_with(begun, pieces))


async def _beginning_with(first: Piece, others: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    yield first
    async for piece in others:
        yield piece


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
    """Yield the pieces of the file. Raise Problem if reading is refused.

    This can also happen between two pieces, for example because the session ends.
    """
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
