"""The attackers, in a separate process: `python -m tests.support.hostile.attacking FILE`.

The file has the scene as JSON. The answers of the server are written to standard output.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

from tests.support.hostile import insiders, persons, strangers
from tests.support.hostile.scene import Scene, Tenant, from_addresses, from_tenant

POLITE: Final = 15
"""The lowered priority of the attackers. The attackers stand for other machines, so they must not take processor
time from the server.
"""


def main() -> None:
    told: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    os.nice(POLITE)
    scene = Scene(
        port=told["port"],
        until=time.monotonic() + told["seconds"],
        addresses=tuple(told["addresses"]),
        tenants=tuple(Tenant(**each) for each in told["tenants"]),
        victim=told["victim"],
    )
    accounts = [persons.Account(**each) for each in told["accounts"]]
    asyncio.run(_attack(scene, told["who"], accounts))
    answers = [[attack, came, count] for (attack, came), count in sorted(scene.answers.items())]
    print(json.dumps(answers))


async def _attack(scene: Scene, who: str, accounts: list[persons.Account]) -> None:
    if who == "persons":
        await persons.attack(scene, accounts)
        return
    if who == "strangers":
        each = (from_addresses(scene, attack.run, attack.per_minute) for attack in strangers.ATTACKS.values())
    else:
        each = (from_tenant(scene, *attack) for attack in insiders.ATTACKS.values())
    await asyncio.gather(*each)


if __name__ == "__main__":
    main()
