"""The state of the service, as systemd reports it."""

from pathlib import Path
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.host.systemd import commands
from wmsd.host.systemd.paths import BEGUN_BY_HAND, NAME, UNIT_FILE, UNITS_OF_PACKAGES
from wmsd.host.systemd.unit import user_of

ASKED: Final = (
    "ActiveState",
    "UnitFileState",
    "MainPID",
    "StatusText",
    "Result",
    "NRestarts",
    "ActiveEnterTimestamp",
)
AT_BOOT: Final = {True: "It starts at each boot.", False: f"It does not start at boot: systemctl enable {NAME}"}
STATES: Final = {
    "active": "The service runs.",
    "reloading": "The service is running, and is restarting or reading its certificate again.",
    "activating": "The service is starting.",
    "deactivating": "The service is stopping.",
    "inactive": f"The service is stopped. Start it: systemctl start {NAME}",
    "failed": f"The service has failed. Its log says why: journalctl -u {NAME} -n 50",
}
WELL: Final = ("active", "reloading")
NOT_INSTALLED: Final = "There is no service wmsd on this machine. Install it: wmsd service install"
NO_SYSTEMD: Final = (
    "systemd is not running here, so the service cannot run. Its unit is installed. To start the "
    "server now: {command}"
)
NOT_EVEN_SYSTEMCTL: Final = "There is no systemd on this machine. Start the server with its command: {command}"


@dataclass(frozen=True, slots=True)
class Verdict:
    ok: bool
    sentences: list[str]
    facts: dict[str, str]


def service_verdict() -> Verdict:
    """Return the state of the service. Raise ServiceError if systemctl cannot be run."""
    unit_file = next((path for path in (UNIT_FILE, *UNITS_OF_PACKAGES) if path.exists()), None)
    if unit_file is None:
        missing = NOT_INSTALLED if commands.has_systemctl() else NOT_EVEN_SYSTEMCTL.format(command=commands.SERVE)
        return Verdict(False, [missing], {})
    facts = {"unit": str(unit_file)}
    if not commands.systemd_runs():
        return Verdict(False, _without_systemd(unit_file), facts)
    done = commands.run_command("systemctl", "show", NAME, *(f"--property={name}" for name in ASKED))
    properties = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    state = properties.get("ActiveState", "unknown")
    facts |= {
        "state": state,
        "process": properties.get("MainPID", "0"),
        "since": properties.get("ActiveEnterTimestamp", ""),
        "restarts": properties.get("NRestarts", "0"),
        "says": properties.get("StatusText", ""),
    }
    sentence = STATES.get(state, f"systemd says that the service is {state}.")
    return Verdict(state in WELL, [sentence, AT_BOOT[properties.get("UnitFileState") == "enabled"]], facts)


def _without_systemd(unit_file: Path) -> list[str]:
    command = BEGUN_BY_HAND.format(user=user_of(unit_file))
    if not commands.has_systemctl():
        return [NOT_EVEN_SYSTEMCTL.format(command=command)]
    is_enabled = commands.run_command("systemctl", "is-enabled", NAME).returncode == 0
    return [AT_BOOT[is_enabled], NO_SYSTEMD.format(command=command)]
