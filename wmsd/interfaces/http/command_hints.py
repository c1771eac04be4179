"""The commands that pages for site admins name, as they are typed on the machine of the server."""

from typing import Final

from wmsd.contract.command_hints import Complete
from wmsd.interfaces.http.aiohttp_web import web

COMPLETE: Final[web.AppKey[Complete]] = web.AppKey("complete")
"""Of the server: see `Started`."""
