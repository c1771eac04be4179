"""References to records that are stored as ids, and that people give as codes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.db.engine.transaction import Transaction
from wmsd.interfaces.cli.kit.operations import needed_id
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.documents.file_codes import Referred
from wmsd.warehouse.documents.table import DocumentTable

Row = dict[str, Any]


@dataclass(frozen=True)
class Reference:
    """A kind of record that other records refer to by id, and people by code.

    `listed_by` is the command that lists the records.
    """

    noun: str
    table: str
    listed_by: str
    find: Callable[[Transaction, str], int | None]
    codes: Callable[[Transaction, Collection[int]], Mapping[int, str]]

    def id_of(self, tx: Transaction, code: str, company: str) -> int:
        """Return the id of the record with this code.

        Raise Problem (404) if no record has the code. The error names a similar code, or else the command that
        lists the records of `company`, which is a company's code.
        """
        lists = f"{self.listed_by} --company {company}"
        return needed_id(tx, self.find(tx, code), self.noun, self.table, code, lists)


References = Mapping[str, Reference]
"""The references by the field that holds the id, such as `partner_id`."""


def reference_to(kind: Referred) -> Reference:
    if isinstance(kind, DocumentTable):
        return Reference(
            noun=kind.noun,
            table=kind.name,
            listed_by=f"{kind.noun.replace(' ', '-')} list",
            find=kind.id_of_code,
            codes=lambda tx, ids: {record_id: kind.columns(tx, record_id)["code"] for record_id in ids},
        )
    return Reference(
        noun=kind.noun,
        table=kind.table,
        listed_by=f"export {kind.table}",
        find=lambda tx, code: directory.id_of_code(tx, kind, code),
        codes=lambda tx, _: directory.codes_by_id(tx, kind),
    )


DIRECTORY: Final[References] = {
    f"{kind.noun}_id": reference_to(kind) for kind in (directory.CLIENTS, directory.PARTNERS, directory.WAREHOUSES)
}

ARTICLE: Final = Reference(
    noun="article",
    table="articles",
    listed_by="article list",
    find=articles.id_of_code,
    codes=lambda tx, ids: {each.id: each.code for each in articles.references(tx, ids, ())},
)


def with_codes(tx: Transaction, references: References, records: Sequence[Row]) -> list[Row]:
    """Return the records for output to people. Codes replace the ids, and `article_id` is left out."""
    codes: dict[str, Mapping[int, str]] = {}
    for field, reference in references.items():
        ids = {record[field] for record in records if record.get(field) is not None}
        codes[field] = reference.codes(tx, ids) if ids else {}
    return [
        {
            field.removesuffix("_id") if field in codes else field: codes[field].get(value)
            if field in codes
            else value
            for field, value in record.items()
            if field != "article_id"
        }
        for record in records
    ]
