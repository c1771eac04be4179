"""An example request in each language, with nothing installed but the language: what the guide's programs use too.

Address, token and company come from the environment, so that an example runs as it is.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from wmsd.base.dataclass import dataclass
from wmsd.dispatch.idempotency import HEADER as KEY
from wmsd.interfaces.reference.operations import Described

INDENT: Final = "    "


@dataclass(frozen=True, slots=True)
class Example:
    """A request. `token`, `company` and `key` say whether it has a header for each."""

    method: str
    path: str
    token: bool
    company: bool
    key: bool
    body: Any


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    title: str
    write: Callable[[Example], str]


def example_of(described: Described) -> Example:
    route = described.places[0].route
    path = route.path
    for row in described.path:
        path = path.replace(f"{{{row.name}}}", quote(described.example_of(row.name), safe=""))
    sent = {row.name for row in described.headers if row.is_required or row.name == KEY}
    return Example(
        method=route.method,
        path=path,
        token=described.operation.signed_in,
        company="X-Company-Id" in sent,
        key=KEY in sent,
        body=described.sent,
    )


def _curl(example: Example) -> str:
    method = "" if example.method == "GET" else f"-X {example.method} "
    parts = [f'curl {method}"$WMSD_URL{example.path}"']
    if example.token:
        parts.append('-H "Authorization: Bearer $WMSD_TOKEN"')
    if example.company:
        parts.append('-H "X-Company-Id: $WMSD_COMPANY"')
    if example.key:
        parts.append(f'-H "{KEY}: $(openssl rand -hex 16)"')
    if example.body is not None:
        parts.append("-H 'Content-Type: application/json'")
        text = json.dumps(example.body, ensure_ascii=False, indent=2).replace("'", "'\\''")
        parts.append(f"-d '{text}'")
    return " \\\n  ".join(parts)


def _javascript(example: Example) -> str:
    lines = ["const { WMSD_URL, WMSD_TOKEN, WMSD_COMPANY } = process.env;", ""]
    options = [f'method: "{example.method}",'] if example.method != "GET" else []
    headers = _headers(
        example, "Authorization: `Bearer ${WMSD_TOKEN}`", '"{}": WMSD_COMPANY', "crypto.randomUUID()"
    )
    options += ["headers: {", *(f"  {each}," for each in headers), "},"] if headers else []
    if example.body is not None:
        text = json.dumps(example.body, ensure_ascii=False, indent=2)
        options += f"body: JSON.stringify({text}),".split("\n")
    lines += [f"const answer = await fetch(`${{WMSD_URL}}{example.path}`, {{", *(f"  {each}" for each in options)]
    return "\n".join([*lines, "});", "console.log(answer.status, await answer.text());"])


def _python(example: Example) -> str:
    modules = ["json"] * (example.body is not None) + ["os", "urllib.request"] + ["uuid"] * example.key
    authorization = '"Authorization": "Bearer " + os.environ["WMSD_TOKEN"]'
    headers = _headers(example, authorization, '"{}": os.environ["WMSD_COMPANY"]', "str(uuid.uuid4())")
    lines = [*(f"import {name}" for name in modules), "", "request = urllib.request.Request("]
    lines += [f'{INDENT}os.environ["WMSD_URL"] + "{example.path}",']
    lines += [f'{INDENT}method="{example.method}",'] if example.method != "GET" else []
    lines += (
        [f"{INDENT}headers={{", *(f"{INDENT * 2}{each}," for each in headers), f"{INDENT}}},"] if headers else []
    )
    if example.body is not None:
        lines.append(f"{INDENT}data=json.dumps({PYTHON.of(example.body, 1)}).encode(),")
    lines += [")", "with urllib.request.urlopen(request) as answer:"]
    return "\n".join([*lines, f"{INDENT}print(answer.status, answer.read().decode())"])


def _php(example: Example) -> str:
    headers = []
    if example.token:
        headers.append("'Authorization: Bearer ' . getenv('WMSD_TOKEN')")
    if example.company:
        headers.append("'X-Company-Id: ' . getenv('WMSD_COMPANY')")
    if example.key:
        headers.append(f"'{KEY}: ' . bin2hex(random_bytes(16))")
    if example.body is not None:
        headers.append("'Content-Type: application/json'")
    options = [f"'method' => '{example.method}',"]
    options += ["'header' => [", *(f"{INDENT}{each}," for each in headers), "],"] if headers else []
    if example.body is not None:
        options += f"'content' => json_encode({PHP.of(example.body)}),".split("\n")
    options.append("'ignore_errors' => true,")
    lines = ["<?php", "$context = stream_context_create(['http' => [", *(f"{INDENT}{each}" for each in options)]
    address = f"getenv('WMSD_URL') . {PHP.of(example.path)}"
    lines += ["]]);", f"$answer = file_get_contents({address}, false, $context);"]
    return "\n".join([*lines, "echo $http_response_header[0], ' ', $answer, \"\\n\";"])


def _headers(example: Example, authorization: str, company: str, key: str) -> list[str]:
    """Those of a language that writes them as a table."""
    found = [authorization] if example.token else []
    found += [company.format("X-Company-Id")] if example.company else []
    found += [f'"{KEY}": {key}'] if example.key else []
    return [*found, *(['"Content-Type": "application/json"'] if example.body is not None else [])]


@dataclass(frozen=True, slots=True)
class Literals:
    """How a language writes values. `arrow` stands between a key and its value."""

    words: Mapping[object, str]
    braces: tuple[str, str]
    arrow: str
    empty: str
    text: Callable[[str], str]

    def of(self, value: Any, depth: int = 0) -> str:
        if value is None or isinstance(value, bool):
            return self.words[value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            members = [f"{self.text(name)}{self.arrow}{self.of(each, depth + 1)}" for name, each in value.items()]
            return self._within(self.braces, members, depth) if members else self.empty
        if isinstance(value, list):
            return self._within(("[", "]"), [self.of(each, depth + 1) for each in value], depth)
        return str(value)

    def _within(self, braces: tuple[str, str], members: list[str], depth: int) -> str:
        if not members:
            return "".join(braces)
        inside = "".join(f"{INDENT * (depth + 1)}{each},\n" for each in members)
        return f"{braces[0]}\n{inside}{INDENT * depth}{braces[1]}"


def _double_quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _single_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


PYTHON: Final = Literals({None: "None", True: "True", False: "False"}, ("{", "}"), ": ", "{}", _double_quoted)
PHP: Final = Literals(
    {None: "null", True: "true", False: "false"}, ("[", "]"), " => ", "new stdClass()", _single_quoted
)
LANGUAGES: Final = (
    Language("curl", "curl", _curl),
    Language("javascript", "JavaScript", _javascript),
    Language("python", "Python", _python),
    Language("php", "PHP", _php),
)
