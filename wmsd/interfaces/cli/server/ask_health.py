"""A request to a running server for its health, over HTTP."""

import json
import ssl
import time
import urllib.error
import urllib.request
from typing import Final

from wmsd.data_folder.folder import Serving

SECONDS: Final = 10.0
AGAIN_SECONDS: Final = 0.5
SILENT: Final = "does not answer"
GOOD: Final = ("ok", "degraded")


def ask_health(server: Serving, has_tls: bool) -> str:
    """Return `ok`, `degraded`, `unavailable` or `does not answer`.

    As long as the answer is neither `ok` nor `degraded`, ask again, for up to 10 seconds.
    """
    until = time.monotonic() + SECONDS
    while (found := _ask(server, has_tls)) not in GOOD and time.monotonic() < until:
        time.sleep(AGAIN_SECONDS)
    return found


def url_of(server: Serving, has_tls: bool) -> str:
    return f"{'https' if has_tls else 'http'}://{server.listen}/api/health"


def _ask(server: Serving, has_tls: bool) -> str:
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if has_tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the server is on this machine
        handlers.append(urllib.request.HTTPSHandler(context=context))
    try:
        with urllib.request.build_opener(*handlers).open(url_of(server, has_tls), timeout=SECONDS) as answer:
            return str(json.load(answer)["status"])
    except urllib.error.HTTPError as error:
        with error:
            return "unavailable" if error.code == 503 else SILENT
    except (OSError, ValueError, KeyError, TypeError):
        return SILENT
