"""The system's certificate authorities, left unread where nobody needs them.

At its import aiohttp reads them, twice, for contexts that are never used here: 40 ms, a tenth of a start. The
server has its own certificate, and what dials out brings a context of its own; aiohttp's then trust nobody.
"""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def left_unread() -> Iterator[None]:
    """Contexts that are made within find no authorities: OpenSSL's own variables lead it to an empty file.

    They are the whole process's, so this is for imports at a start, before there are threads.
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
