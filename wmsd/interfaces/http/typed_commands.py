"""The commands that pages for site admins name, as they are typed on the machine of the server."""

from collections.abc import Callable
from typing import Final

from wmsd.interfaces.http.web import web

COMPLETE: Final[web.AppKey[Callable[[str], str]]] = web.AppKey("complete")
"""Completes the commands in a text with the options that the server was given."""
