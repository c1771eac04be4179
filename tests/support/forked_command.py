"""A replacement for `wmsd` in a shell: it asks `forking.py` to fork the command, and ends with its exit code.

It runs as a script, so that Python starts quickly. The environment variable FORKS has the descriptor of the socket
for requests. If FORK_TELLS is the descriptor of a pipe, the script writes the number of the process there. Signals
that ask for an end reach the command.
"""

import json
import os
import signal
import socket
import sys


def forked(arguments: list[str], environment: dict[str, str]) -> int:
    requests = socket.socket(fileno=int(environment.pop("FORKS")))
    folder = os.getcwd()  # noqa: PTH109 -- pathlib takes longer to import than this whole file
    tells = environment.pop("FORK_TELLS", None)
    request = {"arguments": arguments, "folder": folder, "environment": environment, "is_paused": False}
    readable, writable = os.pipe()
    socket.send_fds(requests, [json.dumps(request).encode()], [0, 1, 2, writable])
    os.close(writable)
    with os.fdopen(readable) as answers:
        process = answers.readline()
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(each, lambda number, _: os.kill(int(process), number))
        if tells is not None:
            os.write(int(tells), process.encode())
            os.close(int(tells))
        return int(answers.readline())


if __name__ == "__main__":
    sys.exit(forked(sys.argv[1:], dict(os.environ)))
