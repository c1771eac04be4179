"""A server that is killed while it sends webhooks, orders are posted, and receivers fail."""

import asyncio
import time
from typing import Final

from soak_runs.shop import open_shop
from soak_runs.verdict import Verdict, progress
from tests.support import ledger_laws, ledger_run

ORDERS: Final = 50_000
KILLS: Final = 500
SEED: Final = 20261121


def run(divisor: int) -> Verdict:
    started = time.perf_counter()
    with open_shop() as shop:
        for kind, text in ledger_run.GOODS.items():
            shop.site.import_csv(kind, shop.company, text)
        tenant = ledger_run.Tenant(shop.site.data, shop.company.token, shop.company.id)
        scratch = shop.site.data.parent
        ran = asyncio.run(ledger_run.run(tenant, scratch, ORDERS // divisor, KILLS // divisor, SEED, progress))
        ledger = ledger_laws.read(ran)
        broken = [*ledger_laws.broken(ledger), *shop.flaws()]
    figures = {
        "kills": KILLS // divisor,
        **ledger.figures,
        "exhausted for a while": len(ran.rounds),
        "seconds": time.perf_counter() - started,
    }
    return Verdict(figures, broken)
