"""A connection to a file that a running server may be using, opened in the same way as commands do."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import beside_a_server
from wmsd.db.engine.sqlite import connect, sqlite3


@contextmanager
def borrowed(data: Path, name: str) -> Iterator[sqlite3.Connection]:
    """Open a connection to the file `name` in the data folder."""
    with beside_a_server(DataFolder(data)) as loan:
        if loan is not None:
            loan.borrow(data / name)
        with closing(connect(data / name)) as connection:
            yield connection
