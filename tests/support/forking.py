"""Imports `wmsd` once, then forks for every command: each command is a separate process that starts quickly.

Run as a script, with a socket as standard input. Each message on the socket is a request in JSON. Descriptors of
the command's standard input, output and error, and of a pipe, come with the message. The script writes the number
of the process to that pipe, and the exit code when the process ends.
"""

import faulthandler
import gc
import importlib
import io
import json
import os
import random
import selectors
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from typing import Any

from argon2 import PasswordHasher

from wmsd.interfaces import browser_service
from wmsd.interfaces.cli import main
from wmsd.interfaces.pages.kit.rendering import load_templates
from wmsd.tenants.accounts import passwords

MOST_BYTES = 1 << 20
"""The most bytes of a request."""
LATE = (browser_service,)
"""The modules that a server imports at the first request for a page."""
WARM_UP = (
    "company create ACME --name Acme --all-modules --init",
    *("article list --company ACME",) * 12,
    *("doctor", "backup create", "status") * 2,
)
QUICK_PASSWORDS = "--quick-passwords"
QUICK_HASHER = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
"""A fast, weak password hasher for tests that sign a user in. A full hash takes 0.17 s of processor time."""
AS_STARTED = ("-P", "-c", "from wmsd.interfaces.cli.main import main; main()")
"""The arguments of Python when a command is started as a process of its own."""


def is_forked(requests: socket.socket) -> bool:
    """Fork this process for each request. Return True in each fork, which then has to run the request's command.

    Return False in the original process when there are no more requests.
    """
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    waiting = selectors.DefaultSelector()
    for each in (requests, woken):
        waiting.register(each, selectors.EVENT_READ)
    answers: dict[int, int] = {}
    while True:
        ready = {key.fd for key, _ in waiting.select()}
        if woken in ready:
            os.read(woken, MOST_BYTES)
            answer_of_those_ended(answers)
        if requests.fileno() in ready:
            message, descriptors, _, _ = socket.recv_fds(requests, MOST_BYTES, 4)
            if not message:
                return False
            answer = descriptors[3]
            number = os.fork()
            if number == 0:
                become(json.loads(message), descriptors[:3])
                for end in (requests.detach(), woken, wakes, answer, *answers.values()):
                    os.close(end)
                return True
            try:
                os.write(answer, b"%d\n" % number)
            except BrokenPipeError:  # whoever sent the request has ended, so nobody would stop the fork
                os.kill(number, signal.SIGKILL)
            answers[number] = answer
            for descriptor in descriptors[:3]:
                os.close(descriptor)


def answer_of_those_ended(answers: dict[int, int]) -> None:
    while answers:
        number, status = os.waitpid(-1, os.WNOHANG)
        if number == 0:
            return
        answer = answers.pop(number)
        with suppress(BrokenPipeError):  # the test does not wait for the exit code any more
            os.write(answer, b"%d\n" % os.waitstatus_to_exitcode(status))
        os.close(answer)


def become(request: dict[str, Any], standard: list[int]) -> None:
    """Turn this process into one that looks as if the request's command had been started directly."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        raw.name = f"<{name}>"
        buffered = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        errors = "backslashreplace" if name == "stderr" else "strict"
        setattr(sys, name, io.TextIOWrapper(buffered, "utf-8", errors, line_buffering=name == "stderr"))
    faulthandler.register(signal.SIGUSR2, file=2)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    random.seed()
    sys.argv = ["-c", *request["arguments"]]
    sys.orig_argv = [sys.executable, *AS_STARTED, *request["arguments"]]
    if request["is_paused"]:
        os.kill(os.getpid(), signal.SIGSTOP)


def warm_up() -> None:
    """Run some commands in this process. What Python caches and specialises for them is then shared by all forks,
    instead of being copied into each.
    """
    before, standard = dict(os.environ), (sys.stdout, sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.stdout = sys.stderr = io.StringIO()
        for command in WARM_UP:
            sys.argv = ["-c", *command.split()]
            with suppress(SystemExit):
                main.main()
        os.chdir("/")
    sys.stdout, sys.stderr = standard
    tempfile.tempdir = None  # each command chooses its folder by its own environment
    assert (dict(os.environ), threading.active_count()) == (before, 1)


if __name__ == "__main__":
    for module, _ in main.COMMANDS.values():
        importlib.import_module(f"wmsd.interfaces.cli.{module}")
    if QUICK_PASSWORDS in sys.argv:
        setattr(passwords, "PasswordHasher", QUICK_HASHER)  # noqa: B010  # the type checker refuses an assignment
    load_templates()
    warm_up()
    gc.collect()
    gc.freeze()  # collections in the forks do not write to the shared memory pages
    if is_forked(socket.socket(fileno=os.dup(0))):
        try:
            main.main()
        except SystemExit as end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(end.code or 0))  # end without cleaning up everything that was imported
