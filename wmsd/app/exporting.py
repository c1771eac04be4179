"""Lists as files that an import takes back: the operation that walks a list, with the rows of its kind."""

import json
from dataclasses import replace
from typing import Any

from wmsd.app.csv_transfer import KINDS, cells_of
from wmsd.base.fields import Model
from wmsd.base.operation import Operation
from wmsd.base.results import CursorPage
from wmsd.base.strict_json import dumps
from wmsd.db.transaction import Transaction


class ExportedRow(Model):
    """The cells of a row, in the order of the kind's columns."""

    cells: list[str]


def can_be_exported(kind_name: str) -> bool:
    return kind_name in KINDS and KINDS[kind_name].rows is not None


def exported(walking: Operation, kind_name: str) -> Operation:
    """As `walking`, for those who may import. A record may have several rows, and names others by their codes."""
    kind = KINDS[kind_name]
    assert kind.rows is not None
    rows_of = kind.rows

    def export(tx: Transaction, **asked: Any) -> CursorPage:
        page: CursorPage = walking.action(tx, **asked)
        records = json.loads(f"[{page.records}]", parse_float=str, parse_int=str)
        rows = (dumps({"cells": cells_of(kind, row)}) for row in rows_of(tx, map(json.dumps, records)))
        return replace(page, records=",".join(rows))

    return replace(
        walking,
        name=f"export_{kind_name.replace('-', '_')}",
        action=export,
        summary=f"{walking.summary}, as rows that an import takes",
        returns=ExportedRow,
        role="company-admin",
    )
