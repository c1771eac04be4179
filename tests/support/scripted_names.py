"""A name server that gives the answers of a test, and can make a client wait."""

import socket
from collections.abc import Sequence
from threading import Event, Lock

from wmsd.http_client.dns_resolver import DnsResolver

Saying = Sequence[str] | Exception | Event


class ScriptedNames:
    """A scripted name server.

    If a name has several answers, each is given once, and then the last is repeated. If an answer is an Event, the
    name server waits for it.
    """

    def __init__(self, **by_name: list[Saying]) -> None:
        self.asked: list[str] = []
        self._by_name = {name.replace("_", "."): list(answers) for name, answers in by_name.items()}
        self._lock = Lock()
        self.resolver = DnsResolver(self._look_up)

    def say(self, name: str, answers: Sequence[Saying]) -> None:
        self._by_name[name] = list(answers)

    def _look_up(self, host: str) -> list[str]:
        with self._lock:
            self.asked.append(host)
            answers = self._by_name.get(host) or [socket.gaierror(socket.EAI_NONAME, "not known")]
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Event):
            answer.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        if isinstance(answer, Exception):
            raise answer
        return list(answer)
