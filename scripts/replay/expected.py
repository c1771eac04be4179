"""The state of the shop that the plan must lead to, computed from the plan alone, without asking wmsd."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from replay.integrator import DELIVERED
from replay.plan import Plan
from replay.records import Records, put, put_document
from replay.returned import WAY, Return, ReturnedLine
from replay.supply import DELETED, Arrival, PurchaseOrder, Reception, every_order

POSTED: Final = "FINALIZAT"


def expected_records(plan: Plan, article_count: int) -> Records:
    """Return the expected records. `article_count` is the number of imported articles."""
    records: Records = {}
    for purchase in every_order(plan.purchases):
        _put_purchase(records, purchase)
    for number, order in plan.month.orders.items():
        header = (order.partner, order.day, DELIVERED[-1])
        put_document(records, f"Order {number}", header, DELIVERED, order.lines)
    for returned in plan.returns:
        _put_return(records, returned)
    for code, stock in _left(plan, Counter()).items():
        stock.put(records, f"Received stock of {code}")
    for code, stock in _stock(plan).items():
        stock.put(records, f"Stock of {code}")
    for name, count in _events(plan, article_count).items():
        put(records, f"Events {name}", count)
    return records


def _put_purchase(records: Records, order: PurchaseOrder) -> None:
    received = order.received()
    lines = [(code, quantity, received[code]) for code, quantity in order.lines]
    put_document(records, f"Purchase order {order.ref}", (order.supplier, order.way[-1]), order.way, lines)
    for reception in (*order.drafts, *order.receptions):
        if reception.way != DELETED:
            header = (order.ref, reception.way[-1])
            is_posted = reception.way[-1] == POSTED
            arrivals = [
                (each.code, each.units, each.pieces if is_posted else None, each.lot, each.serials)
                for each in reception.arrivals
            ]
            put_document(records, f"Reception {reception.ref}", header, reception.way, arrivals)


def _put_return(records: Records, returned: Return) -> None:
    header = (returned.partner, returned.order, WAY[-1])
    lines = [(each.code, each.quantity, each.disposition, each.lot, each.serials) for each in returned.lines]
    put_document(records, f"Return {returned.ref}", header, WAY, lines)


@dataclass(slots=True)
class Stock:
    """The stock of an article; nothing is reserved. `lots` and `quarantined_lots` have the quantities by lot."""

    quantity: int = 0
    quarantined: int = 0
    lots: Counter[str] = field(default_factory=Counter)
    quarantined_lots: Counter[str] = field(default_factory=Counter)
    serials: list[str] = field(default_factory=list)

    def keep(self, arrivals: list[Arrival], sold: int) -> None:
        """Add the pieces of the arrivals that remain after `sold` pieces have left. The pieces of the first
        arrival leave first.

        All receptions but the last arrive in an unknown order. This makes no difference, because their goods are
        sold completely: the goods that exceed the order arrive last.
        """
        for arrival in arrivals:
            gone = min(arrival.pieces, sold)
            sold -= gone
            self.quantity += arrival.pieces - gone
            self.serials += arrival.serials[gone:]
            if arrival.lot is not None:
                self.lots[arrival.lot] += arrival.pieces - gone

    def take_back(self, line: ReturnedLine) -> None:
        if line.disposition == "DISTRUS":
            return
        quarantined = line.quantity if line.disposition == "CARANTINA" else 0
        self.quantity += line.quantity
        self.quarantined += quarantined
        self.serials += line.serials
        if line.lot is not None:
            self.lots[line.lot] += line.quantity
            self.quarantined_lots[line.lot] += quarantined

    def put(self, records: Records, name: str) -> None:
        available = self.quantity - self.quarantined
        put(records, name, (self.quantity, 0, self.quarantined, available))
        for lot, quantity in self.lots.items():
            if quantity:
                put(records, f"{name} lot {lot}", (quantity, quantity - self.quarantined_lots[lot]))
        for serial in self.serials:
            put(records, f"{name} serial {serial}", "there")


def _left(plan: Plan, sold: Counter[str]) -> dict[str, Stock]:
    """Return what is left of the received goods, by article."""
    arrivals: dict[str, list[Arrival]] = defaultdict(list)
    for reception in _posted(plan):
        for arrival in reception.arrivals:
            arrivals[arrival.code].append(arrival)
    stock: dict[str, Stock] = defaultdict(Stock)
    for code, arrived in arrivals.items():
        stock[code].keep(arrived, sold[code])
    return stock


def _stock(plan: Plan) -> dict[str, Stock]:
    stock = _left(plan, plan.month.sold())
    for returned in plan.returns:
        for line in returned.lines:
            stock[line.code].take_back(line)
    return stock


def _posted(plan: Plan) -> list[Reception]:
    return [reception for order in every_order(plan.purchases) for reception in order.receptions]


def _events(plan: Plan, article_count: int) -> Counter[str]:
    """Return the expected number of events, by name.

    `stock.updated` is sent once for each article of a reception. It is also sent once for each article of a
    return, unless all pieces of the article are destroyed (DISTRUS). `stock.updated` is sent twice for each
    article of an order: on reservation and on loading. `stock.low` is sent when the last piece is reserved.
    """
    purchases, posted, returns = every_order(plan.purchases), _posted(plan), plan.returns
    receptions = [*posted, *(draft for order in purchases for draft in order.drafts)]
    orders = plan.month.orders.values()
    bought: Counter[str] = Counter()
    for order in purchases:
        bought.update(order.received())
    stocked = [{line.code for line in each.lines if line.disposition != "DISTRUS"} for each in returns]
    return +Counter(
        {
            "article.created": article_count,
            "article.updated": len(plan.articles),
            "purchase_order.created": len(purchases),
            "purchase_order.status_changed": sum(len(order.way) - 1 for order in purchases),
            "reception.created": len(receptions),
            "reception.status_changed": sum(len(reception.way) - 1 for reception in receptions),
            "reception.partial": sum(len(order.receptions) - (order.rest is None) for order in purchases),
            "sales_order.created": len(orders),
            "sales_order.status_changed": len(orders) * (len(DELIVERED) - 1),
            "return.created": len(returns),
            "return.updated": sum(returned.is_decided_late for returned in returns),
            "return.status_changed": len(returns) * (len(WAY) - 1),
            "stock.updated": sum(len(reception.arrivals) for reception in posted)
            + 2 * sum(len(order.pieces()) for order in orders)
            + sum(map(len, stocked)),
            "stock.low": sum(bought[code] == sold for code, sold in plan.month.sold().items()),
        }
    )
