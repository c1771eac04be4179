"""Switching modules over the kernel interface."""

import pytest

from tests.interfaces.kernel.damage import damage
from tests.support.world import KERNEL, World
from wmsd.contract.access import MODULES

SWITCH = f"{KERNEL}companies/1/modules/stock"


async def audited(world: World) -> list[tuple[str, str, str]]:
    sql = "SELECT actor, action, subject FROM audit WHERE action LIKE 'module.%' ORDER BY id"
    return await world.installation.platform.read(lambda tx: tx.rows(sql))


async def test_a_module_is_switched_at_once(kernel: World) -> None:
    assert (await kernel.call("GET", SWITCH)).body == {"enabled": True}
    await kernel.call("GET", "/api/stock")
    for enabled, status in ((False, 403), (False, 403), (True, 200), (True, 200)):
        assert (await kernel.call("PUT", SWITCH, {"enabled": enabled})).body == {"enabled": enabled}
        await kernel.call("GET", "/api/stock", status=status)
        assert (await kernel.call("GET", SWITCH)).body == {"enabled": enabled}
    assert await audited(kernel) == [
        ("kernel", "module.disable stock", "ACME"),
        ("kernel", "module.enable stock", "ACME"),
    ]


@pytest.mark.parametrize("module", MODULES)
async def test_every_module_of_one_company_alone(kernel: World, module: str) -> None:
    other = await kernel.new_company("OTHER")
    await kernel.call("PUT", f"{KERNEL}companies/{other}/modules/{module}", {"enabled": False})
    first, second = (await kernel.call("GET", f"{KERNEL}topology")).body["companies"]
    assert all(first["modules"].values())
    assert second["modules"] == {each: each != module for each in MODULES}
    assert (await kernel.send("GET", "/api/articles", company=other)).status == (
        403 if module in ("api", "articles") else 200
    )


async def test_a_company_that_cannot_be_read_can_be_switched(kernel: World) -> None:
    await damage(kernel, 1)
    assert (await kernel.send("PUT", SWITCH, {"enabled": False})).body == {"enabled": False}
    assert (await kernel.send("GET", SWITCH)).body == {"enabled": False}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("companies/9/modules/stock", "There is no such company."),
        ("companies/0/modules/stock", "There is no such company."),
        ("companies/x/modules/stock", "There is no such company."),
        ("companies/1/modules/magic", f"There is no such module; the modules are {', '.join(MODULES)}."),
        ("companies/1/modules/Stock", f"There is no such module; the modules are {', '.join(MODULES)}."),
    ],
)
async def test_what_is_not_there_is_404(kernel: World, path: str, says: str) -> None:
    for method, body in (("GET", None), ("PUT", {"enabled": False})):
        answer = await kernel.call(method, f"{KERNEL}{path}", body, status=404)
        assert (answer.body["code"], answer.body["message"]) == ("NOT_FOUND", says)
    assert await audited(kernel) == []


async def test_a_body_without_the_switch_is_422(kernel: World) -> None:
    answer = await kernel.call("PUT", SWITCH, {}, status=422)
    assert answer.errors == {"enabled": ["is required"]}
