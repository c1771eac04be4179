"""The operations that read documents. They are built from the table of a kind, and work in the same way for all
kinds.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NamedTuple

from pydantic import create_model

from wmsd.contract.list_queries import CursorQuery, IdsQuery, PageQuery, Query, SortedBy
from wmsd.contract.operation import Operation, operation
from wmsd.contract.results import CursorPage, Page, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.change_history import of_document
from wmsd.warehouse.documents.schema import DocumentChanges, DocumentOfArticle, OfArticleQuery
from wmsd.warehouse.documents.table import DocumentTable


class Reading(NamedTuple):
    by_page: Operation
    by_cursor: Operation
    by_ids: Operation
    one: Operation
    page_query: type[PageQuery]
    """The model of the query parameters of `by_page`: filters and paging."""
    changes: Operation
    """Lists who created a document, and who changed its fields or its status. Only web pages use this operation,
    so `operations` does not contain it.
    """
    of_article: Operation
    """Finds the quantity of an article in some documents. Like `changes`, only web pages use this operation."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        return self.by_page, self.by_cursor, self.by_ids, self.one


def reading_operations(table: DocumentTable, tag: str, module: str, ability: str) -> Reading:
    page_query, cursor_query = _query(table, _paging(table)), _query(table, CursorQuery)
    of_documents = partial(operation, tag=tag, module=module, ability=ability)
    declare = partial(of_documents, returns=table.shown)
    plural = f"{table.noun}s"

    def by_page(tx: Transaction, query: Any) -> Page:
        return table.page(tx, query)

    def by_cursor(tx: Transaction, query: Any, position: int) -> CursorPage:
        return table.after(tx, query, position)

    def by_ids(tx: Transaction, query: IdsQuery) -> Records:
        return table.find(tx, query)

    def one(tx: Transaction, id: int) -> Record:
        return table.one(tx, id)

    def changes(tx: Transaction, id: int) -> dict[str, Any]:
        return of_document(tx, table, id)

    def of_article(tx: Transaction, query: OfArticleQuery) -> Records:
        return table.of_article(tx, query.ids, query.article_id)

    by_page.__annotations__["query"] = page_query
    by_cursor.__annotations__["query"] = cursor_query
    follow = "\n\nFollow `next_cursor` until it is null."
    return Reading(
        declare(answer="page")(_named(by_page, f"list_{table.name}", f"List {plural}, page by page.")),
        declare(answer="cursor")(
            _named(by_cursor, f"walk_{table.name}", f"List {plural} by cursor.{follow}"),
        ),
        declare(answer="records")(_named(by_ids, f"find_{table.name}", f"Find {plural} by their ids.")),
        declare(answer="record")(_named(one, f"get_{table.entity}", f"Get a {table.noun}.")),
        page_query,
        of_documents(answer="object", returns=DocumentChanges)(
            _named(changes, f"list_{table.entity}_changes", f"List who created, moved and changed a {table.noun}.")
        ),
        of_documents(answer="records", returns=DocumentOfArticle)(
            _named(
                of_article, f"find_{table.name}_of_article", f"Find the quantity of an article in some {plural}."
            )
        ),
    )


def _paging(table: DocumentTable) -> type[PageQuery]:
    """Return a model of paging parameters. Its parameter `sort` accepts only sort orders for which the table has
    an index.
    """
    orders = SortedBy("id", "code", "updated_at", *(() if table.due is None else (table.due.field,)))
    return create_model("DocumentPageQuery", __base__=PageQuery, sort=(Annotated[str, orders], "id"))


def _query(table: DocumentTable, paging: type[Query]) -> type[Any]:
    """Return a model of query parameters: the filters of the table's lists, and the parameters of `paging`."""
    return create_model(f"{table.shown.__name__}{paging.__name__}", __base__=(table.query, paging))


def _named(action: Callable[..., Any], name: str, says: str) -> Callable[..., Any]:
    action.__name__, action.__doc__ = name, says
    return action
