"""The operations on articles."""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from wmsd.base.problems import or_not_found
from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.contract.list_queries import IdsQuery
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.code_forms import form_errors
from wmsd.db.sql.statements import column_values
from wmsd.events.outbox.events import record_event
from wmsd.warehouse.articles import store
from wmsd.warehouse.articles.rules import Holders, reference_errors, wanted_fields
from wmsd.warehouse.articles.schema import (
    Article,
    ArticleChanges,
    ArticleCursorQuery,
    ArticleFields,
    ArticleQuery,
    ArticleSyncQuery,
    SparseArticleQuery,
)
from wmsd.warehouse.articles.tracking_rules import Obstacles
from wmsd.warehouse.directory import store as directory

NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


def _sent_reference_errors(
    tx: Transaction, sent: Mapping[str, Any], named: Mapping[str, Any]
) -> Iterator[FieldError]:
    article_id = store.id_of_code(tx, named["code"]) if "code" in named else named.get("id")
    current = None if article_id is None else store.columns(tx, article_id)
    return _reference_errors(tx, article_id, sent, current or NOTHING)


reading = partial(operation, tag="Articles", returns=Article, module="articles", ability="articles:read")
writing = partial(
    operation,
    tag="Articles",
    returns=Article,
    module="articles",
    ability="articles:write",
    answer="record",
    writes=True,
    codes=("EXTERNAL_REF_TAKEN",),
    references=_sent_reference_errors,
)


@reading(answer="page")
def list_articles(tx: Transaction, query: ArticleQuery) -> Page:
    """List articles.

    Each word in `search` must be the beginning of a word in the code, the name or a barcode of the article. `code`
    must equal the whole code.
    """
    return store.page(tx, query, query.filters(), None)


@reading(answer="page")
def list_sparse_articles(tx: Transaction, query: SparseArticleQuery) -> Page:
    """List articles with all fields or with chosen fields.

    `fields` names the fields that the answer contains. The answer always contains `id`.
    """
    return store.page(tx, query, query.filters(), wanted_fields(query.fields, Article.model_fields))


@reading(answer="cursor")
def walk_articles(tx: Transaction, query: ArticleCursorQuery, position: int) -> CursorPage:
    """List articles by cursor.

    Each word in `search` must be the beginning of a word in the code, the name or a barcode of the article. `code`
    must equal the whole code.
    """
    return store.after(tx, query, position)


@reading(answer="records")
def find_articles(tx: Transaction, query: IdsQuery) -> Records:
    """Find articles by their ids."""
    return store.find(tx, query)


@reading(answer="record")
def get_article(tx: Transaction, id: int) -> Record:
    """Get an article."""
    return store.one(tx, id)


def _of_code(tx: Transaction, code: str) -> Record:
    return store.one(tx, or_not_found(store.id_of_code(tx, code), "article"))


@reading(answer="cursor")
def sync_articles(tx: Transaction, query: ArticleSyncQuery, position: int) -> CursorPage:
    """List articles in the order of changes.

    Follow `next_cursor` until it is null, and store the last `end_cursor`. The next time, send this value as
    `cursor` to continue after the last change. You can also continue by time: store `as_of` of the first page, and
    send this value as `updated_since` the next time. If you send a cursor, omit `updated_since`, or send the same
    `updated_since` as in the first request of the list. An article that changes while you read appears again,
    later in the list or in the next list. A change of the server's clock does not affect the order.
    """
    if query.cursor is None:
        position = min(query.updated_since or 0, tx.last_change())  # a cursor never points beyond the last change
    return store.changes(tx, query, position)


@writing(creates=True, events=("article.created",), audited="article.create")
def create_article(tx: Transaction, body: ArticleFields) -> Record:
    """Create an article."""
    values = column_values(body.model_dump())
    refuse_field_errors(_reference_errors(tx, None, values))
    record = store.one(tx, store.insert(tx, values))
    record_event(tx, "article.created", record.id, record.json)
    return record


@writing(events=("article.updated",), precondition=store.one, audited="article.change")
def replace_article(tx: Transaction, id: int, body: ArticleFields) -> Record:
    """Replace an article.

    A field that is not sent takes its default. If nothing differs, nothing is written and no event is sent.
    """
    return change(tx, id, column_values(body.model_dump()))


@writing(events=("article.updated",), precondition=store.one, audited="article.change")
def update_article(tx: Transaction, id: int, body: ArticleChanges) -> Record:
    """Change some fields of an article.

    When nothing differs, nothing is written and no event is sent.
    """
    return change(tx, id, column_values(body.given()))


@writing(events=("article.updated",), precondition=_of_code, audited="article.change")
def update_article_by_code(tx: Transaction, code: str, body: ArticleChanges) -> Record:
    """Change some fields of the article with this code."""
    return change(tx, _of_code(tx, code).id, column_values(body.given()))


def change(tx: Transaction, article_id: int, given: Mapping[str, object]) -> Record:
    """Change the given columns of an article and return the article.

    If no value differs, nothing is written and no event is recorded.
    """
    current = or_not_found(store.columns(tx, article_id), "article")
    values = {**current, **given}
    if values != current:
        refuse_field_errors(_reference_errors(tx, article_id, values, current))
        tx.service(Obstacles).check(tx, article_id, current["track_serial"], values["track_serial"])
        store.update(tx, article_id, values)
        record_event(tx, "article.updated", article_id, store.one(tx, article_id).json)
    return store.one(tx, article_id)


def _reference_errors(
    tx: Transaction, article_id: int | None, values: Mapping[str, Any], current: Mapping[str, Any] = NOTHING
) -> Iterator[FieldError]:
    code, external_ref, client_id = (values.get(name) for name in ("code", "external_ref", "client_id"))
    holders = Holders(
        of_code=store.id_of_code(tx, code) if code else None,
        of_external_ref=store.id_of_external_ref(tx, external_ref) if external_ref else None,
        client_exists=client_id is None or directory.exists(tx, directory.CLIENTS, client_id),
    )
    yield from reference_errors(article_id, holders)
    for sentence in form_errors(tx, "articles", "article", code, current.get("code")):
        yield invalid_field("code", sentence)
