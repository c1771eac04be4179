"""Lines of sales orders that name lots and serials that exist or do not exist, or that take the oldest goods."""

from typing import NamedTuple

from hypothesis import strategies as st

from tests.warehouse.stock.goods import GOODS, Goods
from tests.warehouse.stock.model import MILLION, Json, Place, shown


class Wish(NamedTuple):
    """A wish for goods from one of the places that have stock."""

    place: int
    names: str
    share: int
    """The share of the stock, in quarters; for serials, their number."""
    which: int

    def of(self, stock: Goods) -> Json:
        places = [place for place, shelf in stock.shelves.items() if shelf.quantity] or [(1, 1)]
        named = [place for place in places if stock.shelves[place].lots or GOODS[place[0]].tracks_serials]
        chosen = (named or places) if self.place >= 2 else places
        place = chosen[self.place % len(chosen)]
        line: Json = {"article_id": place[0], "warehouse_id": place[1]}
        if self.names == "serials":
            return {**line, **self._serials(stock, place)}
        lots = [name for name, lot in stock.shelves[place].lots.items() if lot.quantity]
        if self.names == "lot" and lots:
            lot = lots[self.which % len(lots)]
            return {**line, "lot_number": lot, **self._part(place, stock.free_of_lot(place, lot))}
        if self.names == "unknown lot":
            line["lot_number"] = "GONE"
        return {**line, **self._part(place, stock.balances()[place].available if place in stock.shelves else 0)}

    def _part(self, place: Place, there: int) -> Json:
        quantity = there * self.share // 4
        if GOODS[place[0]].tracks_serials and self.share < 5:
            quantity = quantity // MILLION * MILLION
        return {"quantity": shown(quantity or MILLION)}

    def _serials(self, stock: Goods, place: Place) -> Json:
        """Return a line with serials, from the serial `which` on, including serials that another order
        reserves.
        """
        there = [
            name
            for (article, name), serial in stock.serials.items()
            if serial.place == place == (article, place[1])
        ]
        first = self.which % max(len(there), 1)
        names = (there[first:] + there[:first])[: min(self.share, 4)] or ["S0"]
        if self.share > 4:
            names = [*names, names[0]]
        found = stock.serial(place[0], names[0])
        of_lot = {"lot_number": found.lot} if found and found.lot and self.which % 2 else {}
        return {"quantity": len(names), "serials": names, **of_lot}


WISH = st.builds(
    Wish,
    st.integers(0, 9),
    st.sampled_from([*["oldest", "lot", "serials"] * 3, "unknown lot"]),
    st.sampled_from([1, 1, 1, 2, 2, 3, 4, 5]),
    st.integers(0, 7),
)
WISHES = st.lists(WISH, min_size=1, max_size=2)
