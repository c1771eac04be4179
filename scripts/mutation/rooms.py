"""What is broken on purpose, and which tests are to notice: quick ones, so that a room takes minutes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Room:
    """`files` and `tests` are paths from the root; `files` may be patterns."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def modules(self) -> list[str]:
        found = {path for pattern in self.files for path in ROOT.glob(pattern) if path.name != "__init__.py"}
        return sorted(str(path.relative_to(ROOT)) for path in found)


ROOMS: Final = (
    Room("base", ("wmsd/base/*.py",), ("tests/base",)),
    Room(
        "access",
        ("wmsd/accounts/rules.py", "wmsd/app/access_cache.py"),
        (
            *("tests/accounts/test_rules.py", "tests/app/test_access.py", "tests/app/test_access_cache.py"),
            *("tests/interfaces/kernel/test_token.py", "tests/transports/test_sites.py"),
        ),
    ),
    Room("kernel-tokens", ("wmsd/accounts/kernel_tokens.py",), ("tests/accounts/test_kernel_tokens.py",)),
    Room("articles", ("wmsd/articles/rules.py",), ("tests/articles",)),
    Room(
        "sites",
        ("wmsd/transport_sites/rules.py",),
        ("tests/transports/test_site_bearers.py", "tests/transports/test_sites.py"),
    ),
    Room(
        "documents",
        (
            *("wmsd/purchase_orders/rules.py", "wmsd/receptions/rules.py", "wmsd/returns/rules.py"),
            *("wmsd/sales_orders/rules.py", "wmsd/documents/reserving.py", "wmsd/documents/posting.py"),
        ),
        (
            *("tests/purchase_orders/test_purchase_orders.py", "tests/receptions/test_transitions.py"),
            *(
                "tests/returns/test_transitions.py",
                "tests/sales_orders/test_transitions.py",
                "tests/sales_orders/test_lots.py",
            ),
            *("tests/receptions/test_receptions.py", "tests/sales_orders/test_sales_orders.py"),
            "tests/documents/test_reserving.py",
        ),
    ),
    Room(
        "transports",
        ("wmsd/transports/rules.py",),
        ("tests/transports/test_rules.py", "tests/transports/test_transitions.py"),
    ),
    Room("stock", ("wmsd/stock/rules.py",), ("tests/stock/test_rules.py",)),
    Room(
        "ledger",
        ("wmsd/stock/ledger.py", "wmsd/stock/reservations.py"),
        (
            "tests/stock/test_ledger.py",
            "tests/stock/test_reservations.py",
            "tests/stock/test_lots.py",
            "tests/stock/test_staging.py",
        ),
    ),
    Room(
        "webhooks",
        ("wmsd/webhooks/rules.py", "wmsd/webhooks/guard.py"),
        ("tests/webhooks/test_rules.py", "tests/webhooks/test_guard.py", "tests/webhooks/test_targets.py"),
    ),
    Room("limits", ("wmsd/app/limits.py",), ("tests/app/test_windows.py", "tests/app/test_limits.py")),
    Room(
        "door",
        (
            *("wmsd/app/dispatcher.py", "wmsd/app/admission.py", "wmsd/app/decoding.py", "wmsd/app/refusals.py"),
            "wmsd/app/idempotency.py",
        ),
        (
            *("tests/app/test_dispatcher.py", "tests/app/test_dispatcher_failures.py", "tests/app/test_access.py"),
            *("tests/app/test_limits.py", "tests/app/test_idempotency.py", "tests/app/test_preconditions.py"),
            *("tests/app/test_storage.py", "tests/app/test_failing_files_in_the_log.py"),
            *("tests/app/test_flow_keys.py", "tests/app/test_flow_callers.py"),
            "tests/transports/test_sites.py",
        ),
    ),
    Room(
        "units",
        ("wmsd/db/unit_of_work.py",),
        (
            *("tests/db/test_commit.py", "tests/db/test_read_units.py", "tests/db/test_unit_of_work.py"),
            "tests/db/test_inline_reader.py",
        ),
    ),
)
