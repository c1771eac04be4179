"""The settings of a Litestream that replicates a data folder."""

import json
from pathlib import Path
from typing import Final

SOCKET: Final = "litestream.socket"
"""In the data folder: where Litestream answers."""
TEXT: Final = """\
# Litestream for the data folder {data}: litestream replicate -config FILE
# https://litestream.io/reference/config says what an SFTP or S3 replica needs beside its address.
socket:
  enabled: true
  path: {socket}
# Only checkpoints that nobody waits for.
truncate-page-n: 0
dbs:
  - dir: {data}
    pattern: "platform.db"
    watch: true
    monitor-interval: 200ms
    replica:
      url: {url}
      sync-interval: 200ms
  - dir: {companies}
    pattern: "*.db"
    watch: true
    monitor-interval: 200ms
    replica:
      url: {companies_url}
      sync-interval: 200ms
"""
COMPANIES: Final = "companies"


def url_of(replica: str) -> str:
    """The address of a replica: as it is given, or that of a folder."""
    return replica.rstrip("/") if "://" in replica else f"file://{Path(replica).resolve()}"


def configuration(data: Path, replica: str) -> str:
    """In YAML. JSON's strings are YAML's too."""
    data, url = data.resolve(), url_of(replica)
    values = {
        "data": data,
        "companies": data / COMPANIES,
        "socket": data / SOCKET,
        "url": url,
        "companies_url": f"{url}/{COMPANIES}",
    }
    return TEXT.format_map({name: json.dumps(str(value)) for name, value in values.items()})
