"""The temporary folder that the one-file program unpacks itself into at each start.

A process of PyInstaller's unpacks it, starts a child, which is the program, and removes the folder when the child
has ended. While the program runs, it holds a lock on its folder. Where nobody holds it, the processes were killed.
"""

from typing import Final

UNPACKED: Final = "UNPACKED_BY_WMSD"
"""A file that is unpacked first, for PyInstaller sorts by name. Other programs that it has made have none."""
STARTED: Final = "started"
"""A file that the program makes once it has the lock."""
