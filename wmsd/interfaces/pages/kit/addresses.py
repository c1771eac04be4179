"""The addresses of the pages that one-time links lead to: the command line prints them too."""

from typing import Final

FIRST_ADMIN: Final = "/first-admin"
DEMO: Final = "/demo"
WELCOME: Final = "/welcome"
