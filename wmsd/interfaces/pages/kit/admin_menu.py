"""The pages of the installation that show no records: health, backups, jobs, settings."""

from typing import Final, NamedTuple

from wmsd.contract.access import Role, has_role
from wmsd.contract.operation import Operation
from wmsd.platform.admin_view import actions as oversight
from wmsd.platform.admin_view import recovery_phrase
from wmsd.tenants.recovery import actions as recovery


class AdminPage(NamedTuple):
    name: str
    """The name in addresses, under /admin."""
    title: str
    reads: Operation
    begins: Operation | None = None
    """The operation that the button of the page runs."""
    acts: tuple[Operation, ...] = ()
    """The operations that an admin can run on entries of the page."""


HEALTH: Final = AdminPage("health", "Health", oversight.get_installation_health, oversight.begin_examination)
BACKUPS: Final = AdminPage("backups", "Backups", oversight.get_installation_backups, oversight.begin_backup)
RECOVERY: Final = AdminPage("recovery-phrase", "Recovery phrase", recovery_phrase.get_recovery_phrase)
JOBS: Final = AdminPage("jobs", "Jobs", oversight.list_jobs)
SETTINGS: Final = AdminPage("settings", "Settings", oversight.list_settings)
AFTER_RESTORE: Final = AdminPage(
    "after-restore",
    "After a restore",
    recovery.list_recovery,
    acts=(
        recovery.dismiss_lost,
        recovery.remove_lost_second_factors,
        recovery.confirm_access,
        recovery.end_access,
    ),
)
ADMIN_PAGES: Final = (HEALTH, BACKUPS, RECOVERY, AFTER_RESTORE, JOBS, SETTINGS)


def admin_pages_of(role: Role) -> list[AdminPage]:
    """Return the admin pages that a user with this role may see."""
    return [each for each in ADMIN_PAGES if each.reads.role and has_role(role, each.reads.role)]
