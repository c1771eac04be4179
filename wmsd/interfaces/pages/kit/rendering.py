"""The rendering of pages from templates. Values from outside are escaped, and a missing value is an error."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import values
from wmsd.interfaces.pages.kit.assets import address_of
from wmsd.interfaces.pages.kit.fields import name_of
from wmsd.interfaces.pages.kit.menu import rail
from wmsd.interfaces.pages.kit.row_fields import row_fields
from wmsd.interfaces.pages.kit.text import finding_sentences, language, numbers, words, zone

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment
    from jinja2.bccache import Bucket
    from jinja2.runtime import Context
    from markupsafe import Markup

    from wmsd.interfaces.pages.kit.page_client import Person

Text = TypeVar("Text", bound=str)
FOLDER: Final = files("wmsd.interfaces.pages") / "templates"
COMPILED: Final = FOLDER / "__pycache__"
"""The compiled templates. A built program has all of them. From sources, wmsd compiles a template when it is first
loaded, and keeps the result in this folder, as Python does with modules.
"""
SYNTAX: Final[dict[str, Any]] = {
    "extensions": ["jinja2.ext.i18n"],
    "trim_blocks": True,
    "lstrip_blocks": True,
}
"""The options of Jinja, besides `autoescape`, on which the compiled code of a template depends."""
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
OF_PAGE: Final = "contexts_of_the_page"
CODE: Final = re.compile(r"`([^`]+)`")
_complete: ContextVar[Complete] = ContextVar("complete", default=NOTHING_ADDED)
"""The function that completes commands for the person whose page is being rendered."""


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # imported only when a page is opened

    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        bytecode_cache=_compiled(),
        **SYNTAX,
    )
    environment.context_class = _context_class()
    environment.install_gettext_callables(language.translate_text, language.translate_count, newstyle=True)  # type: ignore[attr-defined]  # the extension adds it
    environment.globals |= {
        "_": _text,
        "gettext": _with_values,
        "language": language.current.get,
        "asset": address_of,
        "zone_name": zone.name,
        "zone_distance": zone.distance_from_utc,
        "rail": rail,
        "shown": values.value_html,
        "rows": values.rows,
        "lines": values.lines,
        "cell_class": values.cell_class,
        "row_fields": row_fields,
    }
    filters: dict[str, Callable[..., Any]] = {
        "moment": words.moment,
        "instant": words.instant,
        "figure": words.grouped_number,
        "bytes": numbers.size,
        "duration": numbers.duration,
        "took": numbers.took,
        "status": words.status,
        "told": lambda sentence: _typed(language.translate_error(sentence)),
        "field_errors": lambda sentences, name: _typed(language.field_errors(sentences, name)),
        "finding_sentence": lambda finding: _typed(finding_sentences.sentence_of(finding)),
        "finding_remedy": lambda finding: _typed(finding_sentences.remedy_of(finding)),
        "file_finding": finding_sentences.of_file,
        "typed": _typed,
        "translated": language.translate_text,
        "date": words.date,
        "name_of": name_of,
        "marked": marked,
        "choice_name": words.choice,
        "kind_name": words.kind,
    }
    environment.filters |= {name: _when_shown(each) for name, each in filters.items()}
    return environment


def _compiled() -> "BytecodeCache":
    from jinja2 import BytecodeCache, __version__

    class Compiled(BytecodeCache):
        def get_source_checksum(self, source: str) -> str:
            return super().get_source_checksum(f"{__version__} {SYNTAX} {source}")

        def load_bytecode(self, bucket: "Bucket") -> None:
            file = COMPILED / _file_of(bucket)
            try:
                if file.is_file():
                    bucket.bytecode_from_string(file.read_bytes())
            except Exception:  # a damaged or unreadable file; a damaged one can raise any error
                bucket.reset()

        def dump_bytecode(self, bucket: "Bucket") -> None:
            """Keep the compiled template for the next start, if this process may write to the folder."""
            if sys.dont_write_bytecode or not isinstance(COMPILED, Path):  # a built program has no folder
                return
            # Another process may read the folder at the same time.
            incomplete = COMPILED / f"{bucket.key}.{os.getpid()}.{get_ident()}"
            try:
                COMPILED.mkdir(exist_ok=True)
                incomplete.write_bytes(bucket.bytecode_to_string())
                incomplete.replace(COMPILED / _file_of(bucket))
            except OSError:
                with suppress(OSError):
                    incomplete.unlink()

    return Compiled()


def _file_of(bucket: "Bucket") -> str:
    return f"{bucket.key}.pyc"


def _context_class() -> "type[Context]":
    """Return a class for the contexts in which Jinja renders pages. `_empty` clears each context after its page is
    rendered.

    Jinja's contexts and macros refer to each other. A context that is not cleared keeps the values of its page,
    such as the request, in memory until a garbage collection.
    """
    from jinja2.runtime import Context

    class OfPage(Context):
        def __init__(self, environment: "Environment", parent: dict[str, Any], *others: Any, **named: Any) -> None:
            super().__init__(environment, parent, *others, **named)
            if OF_PAGE in parent:  # the context of macros, which is created once, has no such key
                parent[OF_PAGE].append(self)

    return OfPage


def _empty(contexts: "list[Context]") -> None:
    for each in contexts:
        each.vars.clear()
        each.exported_vars.clear()
        each.blocks.clear()
        each.parent = {}


def _when_shown(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter so that it runs each time a page is rendered.

    Without this, Jinja runs a filter of a constant only once, in the language of the first reader. Jinja runs a
    filter each time only if the filter takes the context.
    """
    from jinja2 import pass_context

    return pass_context(lambda _, *given, **named: filter_(*given, **named))


def _text(text: str, **values: Any) -> "Markup":
    """Return a text of wmsd in the language of the page.

    This function replaces the function of Jinja's extension, because Jinja's function takes three times as long.
    Every page calls this function dozens of times.
    """
    from markupsafe import Markup

    found = Markup(language.translate_text(text))  # noqa: S704 -- a text of the catalogues
    return _typed(found % values if values else found)


def _with_values(text: str, **values: Any) -> "Markup":
    """Return the text of a `trans` block in the language of the page, with its values.

    This function replaces the function of Jinja's extension.
    """
    from markupsafe import Markup

    return _typed(Markup(language.translate_text(text)) % values)  # noqa: S704 -- as in `_text`


def _typed(text: Text) -> Text:
    """Return the text. The commands in it are completed for the reader of the page (see `Person.complete`).

    If the text is HTML, the result is HTML too.
    """
    return cast("Text", _complete.get()(text))


def _source(name: str) -> tuple[str, str, None]:
    return (FOLDER / name).read_text(encoding="utf-8"), name, None


def load_templates() -> None:
    """Load all templates when the server starts.

    If a template is not compiled yet, its compilation takes up to 35 ms. It must not block the event loop when a
    page is first opened.
    """
    for name in _names(FOLDER, ""):
        _environment().get_template(name)


def compiled_templates() -> Iterator[tuple[str, bytes]]:
    """Compile all templates. Yield the name and the content of each file in the folder `COMPILED`.

    The content is valid only for the versions of Python and Jinja that compiled it, and for the same template.
    """
    environment, cache = _environment(), _compiled()
    for name in _names(FOLDER, ""):
        source, file_name, _ = _source(name)
        bucket = cache.get_bucket(environment, name, file_name, source)
        bucket.code = environment.compile(source, name, file_name)
        yield _file_of(bucket), bucket.bytecode_to_string()


def _names(folder: Traversable, before: str) -> Iterator[str]:
    for file in folder.iterdir():
        if file.is_dir():
            yield from _names(file, f"{before}{file.name}/")
        elif file.name.endswith(".html"):
            yield f"{before}{file.name}"


def marked(text: str) -> "Markup":
    """Return the description of an operation or a field as HTML. Backquotes mark code, and empty lines separate
    paragraphs.
    """
    from markupsafe import Markup, escape

    paragraphs = [CODE.sub(r"<code>\1</code>", str(escape(each))) for each in text.split("\n\n") if each]
    return Markup("".join(f"<p>{each}</p>" for each in paragraphs))  # noqa: S704 escaped above


def render_text(template: str, **given: Any) -> str:
    """Return the text of a page from the template with this name.

    `person`, if given, is the reader of the page.
    """
    return "".join(_pieces(template, given))


def render_page(template: str, status: int = 200, **given: Any) -> web.Response:
    """Return a page from the template with this name.

    Each piece is encoded on its own. Otherwise, a single special character would double the memory of a long page
    before it is encoded.
    """
    body = b"".join([piece.encode() for piece in _pieces(template, given)])
    return web.Response(status=status, body=body, content_type="text/html", charset="utf-8", headers=HEADERS)


def _pieces(template: str, given: Mapping[str, Any]) -> Iterator[str]:
    person: Person | None = given.get("person")
    before = _complete.set(NOTHING_ADDED if person is None else person.complete)
    contexts: list[Context] = []
    try:
        yield from _environment().get_template(f"{template}.html").generate(**given, **{OF_PAGE: contexts})
    finally:
        _complete.reset(before)
        _empty(contexts)


def as_file(content: bytes, content_type: str, name: str, charset: str | None = None) -> web.Response:
    """Return a response that the browser saves as a file with this name."""
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=content, content_type=content_type, charset=charset, headers=headers)


def go_to(path: str) -> web.Response:
    """Return a redirect (303) to another page, as the answer to a form."""
    return web.Response(status=303, headers={"Location": path, "Cache-Control": "no-store"})
