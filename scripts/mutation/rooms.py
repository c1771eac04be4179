"""The modules that are broken on purpose, and the tests that must notice it.

These tests are quick, so a group of modules takes only minutes.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Room:
    """A group of modules with their tests.

    `files` and `tests` are paths from the root; `files` may be patterns.
    """

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def modules(self) -> list[str]:
        found = {path for pattern in self.files for path in ROOT.glob(pattern) if path.name != "__init__.py"}
        return sorted(str(path.relative_to(ROOT)) for path in found)


ROOMS: Final = (
    Room("base", ("wmsd/base/*.py", "wmsd/contract/*.py"), ("tests/base", "tests/contract")),
    Room(
        "access",
        ("wmsd/tenants/accounts/rules.py", "wmsd/dispatch/access_cache.py"),
        (
            "tests/tenants/accounts/test_rules.py",
            "tests/dispatch/test_access.py",
            "tests/dispatch/test_access_cache.py",
            "tests/interfaces/kernel/test_token.py",
            "tests/warehouse/transports/test_sites.py",
        ),
    ),
    Room(
        "kernel-tokens",
        ("wmsd/tenants/accounts/kernel_tokens.py",),
        ("tests/tenants/accounts/test_kernel_tokens.py",),
    ),
    Room("articles", ("wmsd/warehouse/articles/rules.py",), ("tests/warehouse/articles",)),
    Room(
        "bearers",
        ("wmsd/tenants/keys/bearers.py",),
        ("tests/tenants/keys/test_bearers.py", "tests/warehouse/transports/test_sites.py"),
    ),
    Room(
        "documents",
        (
            "wmsd/warehouse/purchase_orders/rules.py",
            "wmsd/warehouse/receptions/rules.py",
            "wmsd/warehouse/returns/rules.py",
            "wmsd/warehouse/sales_orders/rules.py",
            "wmsd/warehouse/documents/document_reservations.py",
            "wmsd/warehouse/documents/stock_obstacles.py",
        ),
        (
            "tests/warehouse/purchase_orders/test_purchase_orders.py",
            "tests/warehouse/receptions/test_transitions.py",
            "tests/warehouse/returns/test_transitions.py",
            "tests/warehouse/sales_orders/test_transitions.py",
            "tests/warehouse/sales_orders/test_lots.py",
            "tests/warehouse/receptions/test_receptions.py",
            "tests/warehouse/sales_orders/test_sales_orders.py",
            "tests/warehouse/sales_orders/test_ship_to.py",
            "tests/warehouse/documents/test_reserving.py",
        ),
    ),
    Room(
        "transports",
        ("wmsd/warehouse/transports/rules.py",),
        ("tests/warehouse/transports/test_rules.py", "tests/warehouse/transports/test_transitions.py"),
    ),
    Room("stock", ("wmsd/warehouse/stock/rules.py",), ("tests/warehouse/stock/test_rules.py",)),
    Room(
        "ledger",
        ("wmsd/warehouse/stock/stock_ledger.py", "wmsd/warehouse/stock/stock_reservations.py"),
        (
            "tests/warehouse/stock/test_ledger.py",
            "tests/warehouse/stock/test_reservations.py",
            "tests/warehouse/stock/test_lots.py",
            "tests/warehouse/stock/test_staging.py",
        ),
    ),
    Room(
        "webhooks",
        ("wmsd/events/webhooks/rules.py", "wmsd/http_client/guard.py"),
        (
            "tests/events/webhooks/test_rules.py",
            "tests/http_client/test_guard.py",
            "tests/http_client/test_targets.py",
        ),
    ),
    Room(
        "limits",
        ("wmsd/dispatch/limits/rate_limits.py",),
        ("tests/dispatch/limits/test_rate_windows.py", "tests/dispatch/limits/test_rate_limits.py"),
    ),
    Room(
        "door",
        (
            "wmsd/dispatch/dispatcher.py",
            "wmsd/dispatch/admission.py",
            "wmsd/dispatch/decoding.py",
            "wmsd/dispatch/refusals.py",
            "wmsd/dispatch/idempotency.py",
        ),
        (
            "tests/dispatch/test_dispatcher.py",
            "tests/dispatch/test_dispatcher_failures.py",
            "tests/dispatch/test_access.py",
            "tests/dispatch/limits/test_rate_limits.py",
            "tests/dispatch/test_idempotency.py",
            "tests/dispatch/test_preconditions.py",
            "tests/dispatch/test_storage.py",
            "tests/log/test_failing_files_in_the_log.py",
            "tests/dispatch/test_flow_keys.py",
            "tests/dispatch/test_flow_callers.py",
            "tests/warehouse/transports/test_sites.py",
        ),
    ),
    Room(
        "units",
        ("wmsd/db/engine/unit_of_work.py",),
        (
            "tests/db/test_commit.py",
            "tests/db/test_read_units.py",
            "tests/db/test_unit_of_work.py",
            "tests/db/test_inline_reader.py",
        ),
    ),
)
