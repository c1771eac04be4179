"""A name server that says what a test has written down, and can keep one waiting."""

import socket
from collections.abc import Sequence
from threading import Event, Lock

from wmsd.http_client.dns_resolver import DnsResolver

Saying = Sequence[str] | Exception | Event


class ScriptedNames:
    """Of several answers for a name each is given once, in turn, and the last for ever. An Event is waited for."""

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
