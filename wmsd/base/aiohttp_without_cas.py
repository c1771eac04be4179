"""A context that keeps aiohttp from loading the system's certificate authorities, which wmsd does not need.

When aiohttp is imported, it loads the authorities twice, for SSL contexts that wmsd never uses. That takes 40 ms,
a tenth of the program's start. The server has its own certificate, and outgoing calls use their own SSL context.
Therefore aiohttp's default contexts can do without authorities.
"""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def left_unread() -> Iterator[None]:
    """Let new SSL contexts trust no certificate authority while the body of the `with` statement runs.

    OpenSSL's environment variables point to an empty file during this time. They apply to the whole process. Use
    this function only for imports at the start, before other threads exist.
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
