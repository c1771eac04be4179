"""Rules of stock: how counts and adjustments change the parts of a stock record, and which faults forbid a change.

The rules have no side effects.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wmsd.base.quantity import MAXIMUM, SCALE, to_text
from wmsd.warehouse.stock.parts import NOTHING, UNNAMED, Amounts, Contents, PartKey, Parts, total


class Fault(NamedTuple):
    """The reason why a change is refused.

    `column` is the field with the error. `sentence` is the error text after its subject, such as "would remove 5,
    but only 3 are in stock". The subject is the field, or words that the calling code puts before the text.
    `goods` is None if the fault is not about one part of the stock record.
    """

    goods: PartKey | None
    column: str
    sentence: str


class Change(NamedTuple):
    """A part of a stock record, before and after a change."""

    goods: PartKey
    before: Amounts
    after: Amounts

    @property
    def difference(self) -> Amounts:
        return Amounts(
            self.after.quantity - self.before.quantity, self.after.quarantined - self.before.quarantined
        )


class Counted(NamedTuple):
    """The counted quantity of some goods, in millionths. `quarantined` is None if the count gives no quarantined
    quantity.
    """

    goods: PartKey
    quantity: int
    quarantined: int | None = None


def part_changes(before: Parts, after: Parts) -> list[Change]:
    """Return the changes of the parts that differ, in the order of the parts."""
    every = [Change(goods, before.get(goods, NOTHING), after.get(goods, NOTHING)) for goods in {**before, **after}]
    return [change for change in every if change.before != change.after]


def count_parts(before: Contents, counts: Sequence[Counted], faults: list[Fault]) -> Parts:
    """Return the parts of a stock record after a count. If something forbids the change, add the reason to
    `faults`.

    Goods without a count are no longer in stock. There is one exception: if the only count has no lot and no
    serial, it gives the total quantity.
    """
    if [counted.goods for counted in counts] == [UNNAMED]:
        return count_total(before, None, counts[0].quantity, counts[0].quarantined, faults)
    after: dict[PartKey, Amounts] = {}
    for goods, quantity, given in counts:
        quarantined = before.parts.get(goods, NOTHING).quarantined if given is None else given
        if quantity and quarantined > quantity:
            sentence = (
                f"is less than the quantity in quarantine ({to_text(quarantined)}): also enter the new "
                "quantity in quarantine"
            )
            faults.append(Fault(goods, "quantity", sentence))
        if quantity:
            after[goods] = Amounts(quantity, quarantined)
    return after


def count_total(
    before: Contents, lot_number: str | None, quantity: int, quarantined: int | None, faults: list[Fault]
) -> Parts:
    """Return the parts after a count of a total quantity: of one lot (`lot_number`), or of the whole record. If
    something forbids the change, add the reason to `faults`.

    A total does not say which lots and serials are missing. Therefore only one part changes. In a count of a lot,
    this is its goods without a serial. In a count of the record, it is the goods without lot and serial.
    """
    known, rest = total(before.parts, lot_number), before.parts.get(PartKey(lot_number), NOTHING)
    quarantine = known.quarantined if quarantined is None else quarantined
    held = quarantine + (before.reserved if lot_number is None else before.lots_reserved.get(lot_number, 0))
    left = Amounts(rest.quantity + quantity - known.quantity, rest.quarantined + quarantine - known.quarantined)
    if quantity < held:
        faults.append(
            Fault(
                UNNAMED,
                "quantity",
                f"must be at least {to_text(held)}, because this quantity is reserved or in quarantine",
            )
        )
    elif left.quarantined < 0:
        named = to_text(known.quarantined - rest.quarantined)
        faults.append(
            Fault(
                UNNAMED,
                "quarantined",
                f"is too low: {named} of the quarantined units have a lot or serial. Enter these lots or "
                "serials too",
            )
        )
    elif left.free_of_quarantine < 0:
        taken, free = to_text(rest.free_of_quarantine - left.free_of_quarantine), rest.free_of_quarantine
        faults.append(Fault(UNNAMED, "quantity", f"would remove {taken}, but {only(before, lot_number, free)}"))
    after = {**before.parts, PartKey(lot_number): left}
    return {goods: there for goods, there in after.items() if there != NOTHING}


def only(before: Contents, lot_number: str | None, amount: int, state: str = "") -> str:
    """Return the end of an error text: "only `amount` are in stock", with `state` after it.

    If some of the goods have a lot or serial, the text also says that `amount` does not include these goods.
    """
    if total(before.parts, lot_number) == before.parts.get(PartKey(lot_number), NOTHING):
        return f"only {to_text(amount)} are in stock{state}"
    unnamed = "a lot or serial" if lot_number is None else "a serial"
    return (
        f"only {to_text(amount)} without {unnamed} are in stock{state}; for a larger quantity, name the lots "
        "or serials"
    )


def faults_of(before: Contents, after: Parts, tracks_serials: bool) -> Iterator[Fault]:
    """Yield the faults that forbid the change. These rules apply to every kind of change.

    Reservations can be violated for a serial, a lot or the whole record. Only the most exact faults are reported:
    first serials, then lots, then the record.
    """
    for goods, _, there in part_changes(before.parts, after):
        if goods.serial is not None and goods not in before.parts and not tracks_serials:
            yield Fault(goods, "serial", "must be empty: the article is not tracked by serials")
        for column, amount in (("quantity", there.quantity), ("quarantined", there.quarantined)):
            if tracks_serials and amount % SCALE:
                yield Fault(goods, column, "must be a whole number: the article is tracked by serials")
    if total(after).quantity > MAXIMUM:
        yield Fault(None, "quantity", f"would raise the stock balance above {to_text(MAXIMUM)}")
    yield from [*_held_serials(before, after)] or [*_held_lots(before, after)] or [*_held(before, after)]


def _held_serials(before: Contents, after: Parts) -> Iterator[Fault]:
    for goods in before.serials_held:
        if after.get(goods) != Amounts(SCALE):
            yield Fault(
                goods,
                "serial",
                f"{goods.serial} is reserved by an order: the serial must stay in stock, in the same lot, and "
                "must not enter or leave quarantine",
            )


def _held_lots(before: Contents, after: Parts) -> Iterator[Fault]:
    left: Counter[str | None] = Counter()
    for goods, there in after.items():
        left[goods.lot_number] += there.free_of_quarantine
    for lot_number, reserved in before.lots_reserved.items():
        if left[lot_number] < reserved:
            of_lot = f"{to_text(left[lot_number])} of lot {lot_number}"
            sentence = (
                f"is not possible: only {of_lot} would be left to sell, but orders have reserved "
                f"{to_text(reserved)}"
            )
            yield Fault(PartKey(lot_number), "quantity", sentence)


def _held(before: Contents, after: Parts) -> Iterator[Fault]:
    left = total(after).free_of_quarantine
    if left < before.reserved:
        sentence = (
            f"is not possible: only {to_text(left)} would be left to sell, but orders have reserved "
            f"{to_text(before.reserved)}"
        )
        yield Fault(None, "quantity", sentence)
