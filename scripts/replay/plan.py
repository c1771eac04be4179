"""The plan of all documents that the replay sends, created before the first request."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Failed
from replay.articles import Article, articles
from replay.invoices import Month, read_month
from replay.returned import Return, plan_returns
from replay.supply import PurchaseOrder, plan_supply


@dataclass(frozen=True, slots=True)
class Plan:
    month: Month
    articles: dict[str, Article]
    purchases: list[PurchaseOrder]
    returns: list[Return]


def make_plan(source: Path, most: int | None) -> Plan:
    month = read_month(source, most)
    if not month.orders:
        raise Failed(f"{source} has no invoices for goods.")
    sold = month.sold()
    known = articles(sold)
    return Plan(month, known, plan_supply(sold, known), plan_returns(month, known))
