"""Replays a month of a real shop over HTTP, from a client with 8 connections, and checks what came of it.

    scripts/replay-month online-retail-2010-12.csv.xz [--orders N] [--keep FOLDER]

The import files are those of scripts/retail-files. They go through `wmsd import` into a data folder of its own,
`wmsd serve` serves it on loopback, and each invoice becomes a sales order: created with the invoice number as
external_ref, and moved to IN_LUCRU, INCARCAT and LIVRAT at once. The rules:

  goods        A line is goods when its stock code begins with five digits, or with DCGS and four digits. Other
               lines are left out: postage (POST, DOT, C2), fees (AMAZONFEE, BANK CHARGES), manual entries (M, m),
               discounts (D), samples (S), gift vouchers (gift_...). Lines of one article stay separate lines.
  order        An invoice with goods. Without a customer it is of the partner WALK-IN.
  correction   An invoice with neither customer nor price is no sale: it writes stock off (quantity below 0), or
               tells of stock that was found. It is left out.
  cancelled    A credit note (C...) that takes back exactly the goods of an earlier order, of the same customer on
               the same day, cancels it: the order goes from IN_LUCRU to ANULAT. The latest such order is taken.
  returns      The goods of every other credit note are written to returns.csv; nothing is sent of them.

Checked at the end, over HTTP: every order is there exactly once, with its partner, day, lines in their order, and
statuses; stock is what was imported less what the invoices ship, and nothing is reserved. In the company's file:
every balance is the sum of its ledger and its reservations; every line shipped was posted once, no other was.
"""

import argparse
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from benchmarks.processes import Failed, folder, wmsd_server
from replay.checks import failures
from replay.client import CONNECTIONS, Replay, replay
from replay.invoices import Month, read_month, write_returns
from replay.shop import Shop, set_up

TOLD: Final = 20
"""How many failures are told one by one."""


def main() -> int:
    """0 when every check holds, 1 otherwise."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped and the folder removed
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
    parser.add_argument("source", type=Path, help="a month's invoice lines, .csv.xz")
    parser.add_argument("--orders", type=_positive, metavar="N", help="only up to the month's N-th order")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work there, and leave everything there")
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
    """What the checks found wrong, after the figures."""
    month = read_month(source, most)
    write_returns(path / "returns.csv", month.returns)
    company = set_up(path, source)
    with wmsd_server(path / "data") as server:
        shop = Shop(server, company)
        played = replay(shop, month, _teller(len(month.orders)))
        print(_figures(month, played))
        wrong = list(failures(shop, month, path))
    if not wrong:
        print(
            "Checked: every order is there exactly once, every ledger sum holds, stock fell by what was shipped."
        )
    return wrong


def _teller(orders: int) -> Callable[[int], None]:
    """Tells of each order on one line, where a person looks at it."""

    def tell(done: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == orders else ""
            print(f"\rreplay-month: {done} of {orders} orders", end=end, file=sys.stderr, flush=True)

    return tell


def _figures(month: Month, played: Replay) -> str:
    orders, lines = len(month.orders), sum(len(order.lines) for order in month.orders.values())
    returned = sum(len(credit.lines) for credit in month.returns)
    no_goods = ", ".join(f"{code} {count}" for code, count in month.no_goods.most_common())
    return f"""\
{orders} orders, {lines} lines, {played.requests} requests over {CONNECTIONS} connections in {played.seconds:.1f} s
{played.orders / played.seconds:.0f} orders/s, {played.requests / played.seconds:.0f} requests/s
{orders - len(month.cancelled)} delivered, {month.shipped().total()} pieces; {len(month.cancelled)} cancelled
Left out:
  {month.no_goods.total()} lines that are no goods: {no_goods or "-"}
  {month.without_goods} invoices and credit notes that have no other lines
  {month.corrections} invoices that correct the stock
  {len(month.returns)} credit notes with {returned} lines, kept in returns.csv"""


if __name__ == "__main__":
    sys.exit(main())
