"""Imports documents from a file. The import creates new documents and changes existing documents. Then it gives
each document the status in the file.

A document is identified by its code or, if it has no code, by its external_ref. The rows are first read and
checked, while other writers can continue. The functions that create or change a single document also check and
write the documents of a file.
"""

from collections.abc import Callable, Iterable
from itertools import groupby, pairwise
from typing import Final

from wmsd.base.problems import Problem
from wmsd.contract.bulk_imports import Import, Outcome, Progress, Row
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.staged_rows import PickledRows, put_down, put_down_before
from wmsd.warehouse.documents.file_codes import Codes
from wmsd.warehouse.documents.file_rows import DocumentRows
from wmsd.warehouse.documents.kind import Document, DocumentKind

DOCUMENTS: Final = PickledRows("staged_documents")
TOGETHER: Final = 200
"""The maximum number of new documents that are created in one call. Some documents must be created in a separate
call (see `InFiles.goes_alone`).
"""


class DocumentImport(Import):
    checks_all = False

    def __init__(self, kind: DocumentKind) -> None:
        self._kind = kind
        self._in_files = kind.in_files
        self._rows = DocumentRows(kind)
        self._count = 0
        self._codes: Codes | None = None
        self._found = Outcome()
        self._later: list[Callable[[], None]] = []

    def gather(self, tx: Transaction, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        DOCUMENTS.make(tx, schema)
        self._count = put_down(tx, schema, rows)
        return self._count

    def check(self, tx: Transaction, outcome: Outcome) -> None:
        """Check the rows. If they were already checked, check them again only if a code now belongs to another
        record.
        """
        if self._codes is not None and self._codes.are_the_same(tx):
            return
        self._codes, self._found = Codes(tx, self._rows.references), Outcome()
        DOCUMENTS.empty(tx)
        DOCUMENTS.put_down(tx, self._rows.documents(put_down_before(tx), self._codes, self._found))

    def write(self, tx: Transaction, outcome: Outcome, progress: Progress) -> None:
        outcome.errors.take(self._found.errors)
        done = 0
        waiting: list[Document] = []
        for document in DOCUMENTS.take_up(tx):
            progress(done, self._count)
            done += len(document.rows)
            if document.code is None:  # a waiting document may have this external_ref
                waiting = self._create(tx, waiting, outcome)
            document_id = self._known(tx, document)
            is_known = document_id is not None or document.code is None or document.lines is None
            goes_alone = is_known or self._in_files.goes_alone(document)
            if goes_alone or len(waiting) == TOGETHER:
                waiting = self._create(tx, waiting, outcome)
            if document_id is not None:
                self._change(tx, document_id, document, outcome)
            elif document.lines is None:
                self._rows.refuse_new(document, outcome)
            elif goes_alone:
                self._create(tx, [document], outcome)
            else:
                waiting.append(document)
        self._create(tx, waiting, outcome)
        for walk in self._later:
            walk()

    def _create(self, tx: Transaction, documents: list[Document], outcome: Outcome) -> list[Document]:
        """Create the documents, and add errors to `outcome`. Return an empty list, in which the caller collects
        the next documents.
        """
        lines_of = self._in_files.lines_of
        bodies = [
            self._kind.table.body_of(each.code, self._rows.whole(each.fields, {}), lines_of(tx, each))
            for each in documents
        ]
        made = self._in_files.create(tx, documents, bodies) if documents else []
        created: list[tuple[Document, int]] = []
        for document, each in zip(documents, made, strict=True):
            if isinstance(each, Problem):
                self._rows.refuse(each, document, outcome)
            else:
                created.append((document, each.id))
        for _, alike in groupby(created, key=lambda found: found[0].status):
            self._walk_in_turn(tx, list(alike), None, outcome)
        return []

    def _change(self, tx: Transaction, document_id: int, document: Document, outcome: Outcome) -> None:
        before = self._kind.table.one(tx, document_id)
        try:
            fields = self._rows.whole(document.fields, self._kind.table.columns(tx, document_id))
            lines = None if document.lines is None else self._in_files.lines_of(tx, document)
            self._kind.change(tx, document_id, fields, lines)
        except Problem as problem:
            self._rows.refuse(problem, document, outcome)
        else:
            self._walk_in_turn(tx, [(document, document_id)], before, outcome)

    def _walk_in_turn(
        self, tx: Transaction, alike: list[tuple[Document, int]], before: Record | None, outcome: Outcome
    ) -> None:
        """Change the status of the documents in `alike` to the status in the file. If the kind is `walked_last`,
        do this later, after all documents are written.

        `alike` has new documents, or one existing document, each with its id. They all get the same status.
        `before` is the record of the existing document before the import, or None for new documents.
        """

        def walk() -> None:
            try:
                self._walk(tx, alike[0][0].status, [document_id for _, document_id in alike], before, outcome)
            except Problem as problem:
                self._rows.refuse(problem, alike[0][0], outcome)

        if self._in_files.walked_last:
            self._later.append(walk)
        else:
            walk()

    def _known(self, tx: Transaction, document: Document) -> int | None:
        if document.code is not None:
            return self._kind.table.id_of_code(tx, document.code)
        assert document.external_ref is not None
        return self._kind.table.id_of_external_ref(tx, document.external_ref)

    def _walk(
        self, tx: Transaction, wanted: str | None, ids: list[int], before: Record | None, outcome: Outcome
    ) -> None:
        """Change the status of documents to `wanted`, and count them in `outcome` as created, updated or
        unchanged. If `wanted` is None, the status stays.

        `before` is the record of an existing document before the import, or None for new documents.
        """
        table = self._kind.table
        if wanted is not None:
            current = table.initial if before is None else table.columns(tx, ids[0])["status"]
            for each in pairwise(self._route(current, wanted)):
                self._in_files.move(tx, ids, *each)
        if before is None:
            outcome.created += len(ids)
        elif table.one(tx, ids[0]) == before:
            outcome.unchanged += 1
        else:
            outcome.updated += 1

    def _route(self, current: str, wanted: str) -> list[str]:
        """Return the shortest path of statuses from `current` to `wanted`, including both. Raise Problem (409) if
        there is no path.

        There is one exception: if there is no path to a status in `InFiles.comes_about`, return an empty list. A
        document gets such a status only through other documents. For example, a purchase order gets some of its
        statuses only through receptions.
        """
        try:
            return [current, *self._kind.transitions.shortest_path(current, wanted)]
        except Problem:
            if wanted in self._in_files.comes_about:
                return []
            raise
