"""Work that a start omits, because it would slow down every start."""

import json
import subprocess
import sys

from wmsd import __version__


def run(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_aiohttps_own_client_is_given_no_certificates() -> None:
    program = """
import wmsd.interfaces.cli.server.serve
from aiohttp import connector
print(connector._SSL_CONTEXT_VERIFIED.cert_store_stats()["x509"])
"""
    assert run(program) == "0"


def test_a_context_made_later_has_the_systems_certificates() -> None:
    counted = 'print(ssl.create_default_context().cert_store_stats()["x509"])'
    assert run(f"import ssl, wmsd.interfaces.http.aiohttp_web; {counted}") == run(f"import ssl; {counted}")


def test_models_are_built_when_they_are_first_used() -> None:
    program = """
import wmsd.interfaces.service
from wmsd.warehouse.articles.schema import ArticleFields
print(ArticleFields.__pydantic_complete__)
ArticleFields(code="A", name="B")
print(ArticleFields.__pydantic_complete__)
"""
    assert run(program).split() == ["False", "True"]


def test_python_starts_it_by_its_name() -> None:
    command = [sys.executable, "-m", "wmsd", "version", "--json"]
    assert (
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["version"]
        == __version__
    )
