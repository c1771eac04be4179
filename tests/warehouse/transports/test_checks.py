"""The doctor finds every violation of the rules of transports."""

import pytest

from tests.support.planner import EUR_4, Planner
from wmsd.maintenance.file_checks.company_checks import examine

DAMAGE = {
    "a transport's packaging must be in the packaging ledger": (
        "UPDATE transport_packaging SET quantity = 5000000",
        ("T1 of MAIN, EUR", "5", "4"),
    ),
    "the packaging of a transport must be posted when the transport is loaded, and not before": (
        "UPDATE transport_packaging SET partner_id = NULL",
        ("T1 of MAIN, packaging 1", "posted", "not posted"),
    ),
    "an order must be on only one transport at a time": (
        "INSERT INTO transport_orders VALUES (2, 1, 0)",
        ("SO-000001", "at most 1", "2"),
    ),
    "every order of a delivered transport must be delivered": (
        "UPDATE transports SET status = 'LIVRAT', delivered_at = loaded_at WHERE id = 1",
        ("T1 of MAIN, SO-000001", "LIVRAT", "INCARCAT"),
    ),
}


@pytest.mark.parametrize("promise", DAMAGE)
async def test_the_doctor_finds_what_is_not_so(planner: Planner, promise: str) -> None:
    await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", packaging=[EUR_4])
    await planner.send("INCARCAT")
    await planner.plan(ecc="T2")
    await planner.is_right()
    sql, difference = DAMAGE[promise]
    database = await planner.world.database()
    await database.write(lambda tx: tx.execute(sql))
    found = (await database.read_long(examine)).differences
    assert (promise, *difference) in [(each.promise, each.record, each.expected, each.found) for each in found]
