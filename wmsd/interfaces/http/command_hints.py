"""The commands that pages show to platform admins. They include the options that the admin needs on the server."""

from typing import Final

from wmsd.contract.command_hints import Complete
from wmsd.interfaces.http.aiohttp_web import web

COMPLETE: Final[web.AppKey[Complete]] = web.AppKey("complete")
"""The server's function that adds --data and --config to displayed commands (see `Started`)."""
