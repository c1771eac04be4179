"""Replay a month of a real shop over HTTP, from a client with 8 connections, and check the result.

    scripts/replay-month online-retail-2010-12.csv.xz [--orders N] [--keep FOLDER]

The directory and the articles come from scripts/retail-files. `wmsd import` imports them into a new data folder,
and `wmsd serve` serves it on loopback. Stock begins at 0. What the source does not say is decided by the rules
below, always in the same way.

What the invoices are:
  goods        A line is goods if its stock code begins with five digits, or with DCGS and four digits. Other
               lines are left out: postage (POST, DOT, C2), fees (AMAZONFEE, BANK CHARGES), manual entries (M, m),
               discounts (D), samples (S), gift vouchers (gift_...). Lines of one article stay separate lines.
  correction   An invoice with neither customer nor price is no sale: it writes stock off (quantity below 0), or
               records stock that was found. It is left out.
  walk-in      An invoice without a customer belongs to the partner WALK-IN.

1. Purchase orders, which cover exactly what the month sells:
  supplier     The first two characters of the stock code. An order has at most 1 000 items.
  article      By the number in its code: a multiple of 3 arrives in the largest box of 24, 12, 10, 6 or 4 that
               divides the quantity sold; 7n + 3 is tracked by lots; 7n + 5 by serials if at most 24 are sold; of
               5n + 4 a tenth more than ordered may arrive, and does. All have a min_stock of 0.
2. Receptions, each with its lots and serials:
  parts        Two or three for each order, alternating; fewer if the quantity is too small to be divided. All
               parts but the last are sent at the same time. The last part brings what exceeds the order. Odd
               parts are posted immediately, and sent twice at the same time with one Idempotency-Key; the others
               move from CREAT over IN_LUCRU to FINALIZAT.
  short        The last part of the largest order does not arrive: the order is closed short, and the missing goods
               are ordered again.
  drafts       The first order has a draft that is cancelled, the last order one that is deleted.
3. Sales orders: each invoice with goods, with its number as external_ref, moved to IN_LUCRU, INCARCAT and LIVRAT.
4. Returns: each credit note (C...) with goods:
  bound        A line returns to the latest earlier order of the same customer that shipped the article and has
               a quantity left to return; the remaining quantity goes to the order before. Each order has a
               separate return.
  free         A return without an order, for lines that fit no order, and for goods of walk-in customers. Its lots
               and serials are named after it. For bound goods the source does not say which lots and serials left,
               so none are named.
  disposition  RESTOC, CARANTINA and DISTRUS in turn, line by line. Every second return is created without
               dispositions, and gets them with the move to FINALIZAT.

The expected state is computed from the source and compared, record by record, with the state over HTTP. After 2:
the received stock, with each lot and serial. At the end: stock (the oldest lots and serials leave first), purchase
orders with their received quantities, receptions, orders and returns with their statuses and lines, and the number
of events of each name. The doctor must find nothing.
"""

import argparse
import signal
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from benchmarks.processes import Failed, folder, wmsd_server
from replay.client import CONNECTIONS
from replay.expected import expected_records
from replay.found import doctors_findings, put_records, put_stock
from replay.integrator import Phase, replay
from replay.plan import Plan, make_plan
from replay.records import Records, differences
from replay.shop import Shop, article_count, set_up

TOLD: Final = 20
"""The most failures that are printed one by one."""


def main() -> int:
    """Return 0 if every check succeeds, else 1."""
    options = _options()
    # so that the server is stopped and the folder is removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with _folder(options.keep) as path:
            wrong = _run(path, options.source.resolve(), options.orders)
    except (Failed, OSError) as error:
        wrong = [str(error)]
    for sentence in wrong[:TOLD]:
        print(f"replay-month: {sentence}", file=sys.stderr)
    if len(wrong) > TOLD:
        print(f"replay-month: and {len(wrong) - TOLD} more.", file=sys.stderr)
    return int(bool(wrong))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/replay-month",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", type=Path, help="the invoice lines of a month, .csv.xz")
    parser.add_argument(
        "--orders", type=_positive, metavar="N", help="replay only the first N orders of the month"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in FOLDER, and keep its files")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _folder(kept: Path | None) -> AbstractContextManager[Path]:
    if kept is None:
        return folder()
    kept.mkdir(parents=True, exist_ok=True)
    if any(kept.iterdir()):
        raise Failed(f"{kept} is not empty.")
    return nullcontext(kept.resolve())


def _run(path: Path, source: Path, most: int | None) -> list[str]:
    """Print the numbers, and return the failures of the checks as sentences."""
    plan = make_plan(source, most)
    company = set_up(path, source, plan)
    with wmsd_server(path / "data") as server:
        shop = Shop(server, company)
        found: Records = {}
        phases = replay(shop, plan, _tell, lambda: put_stock(found, shop, "Received stock of"))
        put_records(found, shop)
        print(_figures(plan, phases))
        expected = expected_records(plan, article_count(path))
        wrong = [*differences(expected, found), *doctors_findings(path / "data")]
    if not wrong:
        print(f"Checked: {len(expected)} records match the source, and wmsd doctor finds no problems.")
    return wrong


def _tell(what: str, done: int, of: int) -> None:
    """Print the progress on one line for each phase, if standard error is a terminal."""
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        print(f"\rreplay-month: {what}, {done} of {of} done", end=end, file=sys.stderr, flush=True)


def _figures(plan: Plan, phases: list[Phase]) -> str:
    month, bound = plan.month, sum(returned.order is not None for returned in plan.returns)
    rows = [f"{'':16}{'documents':>10}{'lines':>8}{'requests':>10}{'seconds':>9}{'a second':>10}"]
    rows += [
        f"{phase.name:16}{phase.documents:>10}{phase.lines:>8}{phase.requests:>10}"
        f"{phase.seconds:>9.1f}{phase.documents / phase.seconds:>10.0f}"
        for phase in phases
    ]
    no_goods = ", ".join(f"{code} {count}" for code, count in month.no_goods.most_common())
    return (
        "\n".join(rows)
        + f"""
Over {CONNECTIONS} connections. {month.sold().total()} pieces sold; {bound} returns of orders, \
{len(plan.returns) - bound} free.
Left out:
  {month.no_goods.total()} lines that are no goods: {no_goods or "-"}
  {month.without_goods} invoices and credit notes that have no other lines
  {month.corrections} invoices that correct the stock"""
    )


if __name__ == "__main__":
    sys.exit(main())
