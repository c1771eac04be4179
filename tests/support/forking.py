"""Imports `wmsd` once, then forks for every command: each is a process of its own, and a quick one.

Run as a script. Standard input has a JSON request a line; standard output answers with its exit code.
"""

import gc
import json
import os
import sys

from wmsd.interfaces.cli import companies, configuring, csv_transfer, main, people, serving

IMPORTED = (companies, configuring, people, serving, csv_transfer)


def serve() -> None:
    requests, replies = os.fdopen(os.dup(0)), os.dup(1)
    for line in requests:
        child = os.fork()
        if child == 0:
            become(json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        os.write(replies, b"%d\n" % os.waitstatus_to_exitcode(status))
    sys.exit()


def become(request: dict[str, str]) -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        file = os.open(request[name], os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(json.loads(request["environment"]))
    sys.argv[1:] = json.loads(request["arguments"])


if __name__ == "__main__":
    gc.freeze()  # what is shared stays shared
    serve()
    try:
        main.main()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))  # without taking apart all that was imported
