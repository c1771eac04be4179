"""The installation as the kernel interface describes it."""

import pytest

from tests.interfaces.kernel.damage import damage
from tests.support.world import KERNEL, World
from wmsd.contract.access import MODULES
from wmsd.db.files.open_files import FileBounds


async def test_the_topology(kernel: World) -> None:
    await kernel.new_operator("TRY", sandbox=True)
    second = await kernel.new_company("SAND", ["api", "stock"], operator="TRY")
    await kernel.import_csv("warehouses", "code,name,active\nMAIN,Main,1\nOLD,Old,0\n")
    answer = (await kernel.call("GET", f"{KERNEL}topology")).body
    assert answer == {
        "operators": [{"id": 1, "code": "TRY", "name": "TRY", "sandbox": True}],
        "companies": [
            {
                "id": 1,
                "code": "ACME",
                "name": "Company ACME",
                "operator_id": None,
                "sandbox": False,
                "modules": dict.fromkeys(MODULES, True),
                "available": True,
                "warehouses": [
                    {"id": 1, "code": "MAIN", "name": "Main", "active": True},
                    {"id": 2, "code": "OLD", "name": "Old", "active": False},
                ],
            },
            {
                "id": second,
                "code": "SAND",
                "name": "Company SAND",
                "operator_id": 1,
                "sandbox": True,
                "modules": {module: module in ("api", "stock") for module in MODULES},
                "available": True,
                "warehouses": [],
            },
        ],
    }


@pytest.mark.parametrize("name", ["topology", "stats"])
async def test_a_file_that_fails_is_said_so_and_the_rest_goes_on(kernel: World, name: str) -> None:
    companies = [kernel.company, await kernel.new_company("BAD"), await kernel.new_company("GONE")]
    await damage(kernel, companies[1])
    await (await kernel.database(companies[2])).close()
    file = kernel.installation.files.path(companies[2])
    file.rename(file.with_name("elsewhere"))
    for _ in range(2):
        shown = (await kernel.call("GET", f"{KERNEL}{name}")).body["companies"]
        assert [(each["code"], each["available"]) for each in shown] == [
            ("ACME", True),
            ("BAD", False),
            ("GONE", False),
        ]
        assert shown[1]["warehouses" if name == "topology" else "resources"] is None
    file.with_name("elsewhere").rename(file)
    shown = (await kernel.call("GET", f"{KERNEL}{name}")).body["companies"]
    assert [each["available"] for each in shown] == [True, False, True]


async def test_looking_at_many_companies_opens_no_file_for_good(kernel: World) -> None:
    companies = [await kernel.new_company(f"C{number}") for number in range(30)]
    kernel.installation.files.open.bounds = FileBounds(connections=4)
    in_use = companies[-3:]
    for company in in_use:
        await kernel.call("GET", "/api/articles", company=company)
    for name in ("topology", "stats"):
        assert len((await kernel.call("GET", f"{KERNEL}{name}")).body["companies"]) == len(companies) + 1
    assert [company for company in kernel.opened if company != kernel.company] == in_use
