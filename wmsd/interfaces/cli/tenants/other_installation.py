"""The other installation of a move. It has a data folder on this machine, or an API at an address."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.failures import StorageError
from wmsd.interfaces.cli.kit.command_line import CommandLine
from wmsd.maintenance.company_moves.move_checks import LISTED
from wmsd.settings.sources import layers_of, settings_of

SECONDS: Final = 30.0
FOLLOWS_SECONDS: Final = 3.0
AGAIN_SECONDS: Final = 0.2
FIRST_LIST: Final = f"{LISTED['articles']}?per_page=1"
LONGEST_TOKEN: Final = 4096
NOT_ALLOWED: Final = (403, 404)
"""The HTTP statuses with which the API refuses a request if a module is off, or if the token lacks an ability."""


def in_folder(folder: Path, config: Path | None) -> CommandLine:
    """Return the other installation, whose data folder is `folder`, as a CommandLine.

    Raise StorageError if the folder has no data, and SettingsError if the settings there are invalid.
    """
    layers = layers_of(config, {("server", "data"): str(folder)})
    other = CommandLine(settings_of(layers), DataFolder(folder), config, layers)
    other.check_made()
    return other


class OverHttp(NamedTuple):
    """The answers of the API at an address. A field or a count is None if the token may not read it.

    `knows_event` is True if the company has the event that the API was asked for. `counts` has the number of
    records by table.
    """

    address: str
    company_id: int | None
    """The company's id; None if the token gives no access to a company with this code."""
    knows_event: bool | None = None
    counts: Mapping[str, int | None] = {}
    webhooks: Mapping[int, str] | None = None
    """The names of the webhooks that are on, by id."""


def is_address(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def token_in(file: Path) -> str:
    """Return the token in the first line of the file.

    Raise StorageError if the file cannot be read, or if this line has no token.
    """
    try:
        with file.open(encoding="ascii") as opened:
            token = opened.readline(LONGEST_TOKEN).strip()
    except UnicodeDecodeError:
        token = ""
    except OSError as error:
        raise StorageError(f"The token file {file} cannot be read: {reason_of(error)}.") from None
    if not token:
        raise StorageError(f"The token file {file} has no token in its first line.")
    return token


def ask_address(address: str, token: str, code: str, last_event: str | None) -> OverHttp:
    """Ask the API at the address about the company with this code, and whether it knows the event `last_event`.

    Raise StorageError if wmsd does not answer at the address, or if it refuses the token.
    """
    asking = _Asking(address, token)
    known = asking.needed("/api/companies")["data"]
    company_id = next((int(each["id"]) for each in known if each["code"] == code), None)
    if company_id is None:
        return OverHttp(asking.address, None)
    asking.company_id = company_id
    asking.wait_until_served()
    counts = {table: asking.total(path) for table, path in LISTED.items()}
    return OverHttp(asking.address, company_id, asking.knows(last_event), counts, asking.webhooks())


class _Asking:
    def __init__(self, address: str, token: str) -> None:
        self.address = address.rstrip("/")
        if not urlsplit(address).hostname:
            raise StorageError(f"{address} is not an address such as https://wms.example.com.")
        self._token = token
        self.company_id: int | None = None

    def needed(self, path: str) -> Any:
        status, body = self._get(path)
        if status == 401:
            raise StorageError(
                f"{self.address} refuses the token. Create a token in that installation (wmsd token create)."
            )
        if status != 200:
            raise StorageError(f"{self.address}{path} answers {status}. Check that wmsd runs at this address.")
        return body

    def wait_until_served(self) -> None:
        """Wait until the server knows the company, for at most FOLLOWS_SECONDS.

        After an import, the server answers 422 for up to a second, until it has loaded the company.
        """
        until = time.monotonic() + FOLLOWS_SECONDS
        while self._get(FIRST_LIST)[0] == 422 and time.monotonic() < until:
            time.sleep(AGAIN_SECONDS)

    def total(self, path: str) -> int | None:
        status, body = self._get(f"{path}?per_page=1")
        return None if status in NOT_ALLOWED else int(self._good(status, path, body)["meta"]["total"])

    def knows(self, event: str | None) -> bool | None:
        path = "/api/v2/events?per_page=1" + ("" if event is None else f"&after={quote(event)}")
        status, body = self._get(path)
        if status == 422:
            return False
        return None if status in NOT_ALLOWED else self._good(status, path, body) is not None

    def webhooks(self) -> dict[int, str] | None:
        path = "/api/webhooks?per_page=200"
        status, body = self._get(path)
        if status in NOT_ALLOWED:
            return None
        return {each["id"]: each["name"] for each in self._good(status, path, body)["data"] if each["active"]}

    def _good(self, status: int, path: str, body: Any) -> Any:
        if status != 200:
            raise StorageError(f"{self.address}{path} answers {status}. Try again.")
        return body

    def _get(self, path: str) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if self.company_id is not None:
            headers["X-Company-Id"] = str(self.company_id)
        request = urllib.request.Request(self.address + path, headers=headers)  # noqa: S310 -- see is_address
        try:
            with urllib.request.build_opener(_Unmoved).open(request, timeout=SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, None
        except (OSError, ValueError) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise StorageError(f"wmsd at {self.address} did not answer: {reason}") from None


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """A handler that does not follow redirects, so that the token is never sent to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None
