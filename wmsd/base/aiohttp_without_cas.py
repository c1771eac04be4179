"""Keeps aiohttp from reading the system's certificate authorities, which nobody needs.

At its import aiohttp reads them twice, for contexts that are never used here: 40 ms, a tenth of a start. The
server has its own certificate, and outgoing calls bring a context of their own. So aiohttp's contexts trust
nobody.
"""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def left_unread() -> Iterator[None]:
    """Within it, new contexts find no certificate authorities: OpenSSL's own environment variables name an empty
    file.

    The variables are those of the whole process, so use it only for imports at a start, before there are threads.
    """
    paths = ssl.get_default_verify_paths()
    variables = (paths.openssl_cafile_env, paths.openssl_capath_env)
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ.update(dict.fromkeys(variables, os.devnull))
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name)
        os.environ.update(before)
