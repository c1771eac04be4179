"""The temporary folder into which the one-file program unpacks itself at each start.

A first process, which comes from PyInstaller, unpacks the program and starts it as a child process. The first
process removes the folder when the child has ended. While the program runs, it holds a lock on its folder. A
folder without a lock means that the processes were killed.
"""

from typing import Final

UNPACKED: Final = "UNPACKED_BY_WMSD"
"""The name of a file that only wmsd has. If it is in a temporary folder, wmsd has unpacked that folder. This file
is unpacked first, because PyInstaller sorts the files by name.
"""
STARTED: Final = "started"
"""A file that the program creates when it has the lock."""
