"""The single row of the table `log`. wmsd reads and changes it directly in the bytes of its page.

SQLite would find this page by the schema of the database file. But the write-ahead log may belong to another file
than the one that is there now. The page is a leaf of a b-tree with one cell. See the file format, sections 1.6 and
2.1 (https://sqlite.org/fileformat.html#b_tree_pages).
"""

import os
from typing import Final, NamedTuple

LEAF: Final = 0x0D
"""The first byte of a leaf page."""
CELLS: Final = slice(3, 5)
CELL_AT: Final = slice(8, 10)
BYTES_OF_TYPE: Final = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""The number of bytes of an integer in an SQLite record, by the serial type of the integer."""
ID: Final = 1
"""The index of the column `id` in the values of the row."""


class LogRow(NamedTuple):
    """The row of the table `log`, without its first column. No value is NULL."""

    id: int
    previous: int
    found_file: int
    found_modified: int
    found_changed: int
    found_log: int


class Value(NamedTuple):
    type: int
    begin: int
    end: int

    def of(self, page: bytes) -> int:
        constant = {8: 0, 9: 1}.get(self.type)
        return constant if constant is not None else int.from_bytes(page[self.begin : self.end], signed=True)


def row_in(page: bytes) -> LogRow | None:
    """Return the row of the table `log`, or None if the page cannot be a page of this table.

    A page of another table may look like a page of this table. In this case, the values of the row are
    meaningless.
    """
    values = _values(page)
    if len(values) != 1 + len(LogRow._fields) or values[0].type or not all(value.type for value in values[1:]):
        return None
    return LogRow(*(value.of(page) for value in values[1:]))


def with_new_id(page: bytes) -> bytes:
    """Return the page with a new `id` in its row.

    If the page does not have this row, it is damaged, and is returned unchanged.
    """
    values = _values(page)
    if len(values) <= ID:
        return page
    _, begin, end = values[ID]
    return page[:begin] + os.urandom(end - begin) + page[end:]


def _values(page: bytes) -> list[Value]:
    """Return the values of a page with one row of integers, or an empty list for any other page."""
    if page[0] != LEAF or int.from_bytes(page[CELLS]) != 1:
        return []
    _, at = _varint(page, int.from_bytes(page[CELL_AT]))
    _, header = _varint(page, at)
    header_bytes, at = _varint(page, header)
    begin, values = header + header_bytes, list[Value]()
    while at < header + header_bytes:
        kind, at = _varint(page, at)
        if kind not in BYTES_OF_TYPE or begin + BYTES_OF_TYPE[kind] > len(page):
            return []
        values.append(Value(kind, begin, begin + BYTES_OF_TYPE[kind]))
        begin = values[-1].end
    return values


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """Return the number at the position `at`, and the position after the number.

    The function reads only numbers of fewer than nine bytes. These are enough for all lengths. On a damaged page,
    the result is meaningless.
    """
    number = 0
    for byte in page[at : at + 8]:
        number, at = number << 7 | byte & 0x7F, at + 1
        if byte < 0x80:
            return number, at
    return number, at + 1
