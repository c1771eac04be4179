"""Creates the configuration with which Litestream replicates a data folder."""

import json
from pathlib import Path
from typing import Final

SOCKET: Final = "litestream.socket"
"""The name of the socket of Litestream in the data folder."""
TEXT: Final = """\
# Litestream for the data folder {data}: litestream replicate -config FILE
# https://litestream.io/reference/config explains what an SFTP or S3 replica needs besides its address.
socket:
  enabled: true
  path: {socket}
# Only checkpoints that do not block other work.
truncate-page-n: 0
dbs:
  - dir: {data}
    pattern: "platform.db"
    watch: true
    monitor-interval: {interval}
    replica:
      url: {url}
      sync-interval: {interval}
  - dir: {companies}
    pattern: "*.db"
    watch: true
    monitor-interval: {interval}
    replica:
      url: {companies_url}
      sync-interval: {interval}
"""
COMPANIES: Final = "companies"
MILLISECONDS_OF_A_COMPANY: Final = 1
LEAST_MILLISECONDS: Final = 200
MOST_MILLISECONDS: Final = 1000
"""The longest interval at which Litestream checks each file for changes. A check takes processor time even if
nothing has changed. With a thousand files, an interval of 200 ms takes half of a core, and one second takes an
eighth.
"""


def url_of(replica: str) -> str:
    """Return the address of a replica. `replica` is an address, or the path of a folder, which becomes a `file://`
    address.
    """
    return replica.rstrip("/") if "://" in replica else f"file://{Path(replica).resolve()}"


def configuration(data: Path, replica: str, number: int) -> str:
    """Return the YAML configuration for a data folder with `number` companies. The more companies there are, the
    longer is the interval at which Litestream checks the files.

    Values are quoted as JSON strings, which are valid in YAML.
    """
    data, url = data.resolve(), url_of(replica)
    interval = min(max(number * MILLISECONDS_OF_A_COMPANY, LEAST_MILLISECONDS), MOST_MILLISECONDS)
    values = {
        "data": data,
        "companies": data / COMPANIES,
        "socket": data / SOCKET,
        "url": url,
        "companies_url": f"{url}/{COMPANIES}",
    }
    quoted = {name: json.dumps(str(value)) for name, value in values.items()}
    return TEXT.format_map({**quoted, "interval": f"{interval}ms"})
