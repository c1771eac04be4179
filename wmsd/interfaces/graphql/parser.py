"""The parser for documents. Valid documents are cached."""

from functools import lru_cache
from typing import Final

from graphql import DocumentNode, GraphQLError, GraphQLSyntaxError, parse, specified_rules, validate
from graphql.validation import ASTValidationRule
from graphql.validation.rules.max_introspection_depth_rule import MaxIntrospectionDepthRule

from wmsd.interfaces.graphql.limits import MOST_TOKENS, excess, text_excess
from wmsd.interfaces.graphql.schema import schema

RULES: Final[tuple[type[ASTValidationRule], ...]] = (
    *(rule for rule in specified_rules if rule is not MaxIntrospectionDepthRule),
    MaxIntrospectionDepthRule,
)
MOST_ERRORS: Final = 5
REMEMBERED: Final = 256
REMEMBERED_CHARACTERS: Final = 4_000
"""A document is cached only if its text has at most this many characters. So a few texts do not fill the memory.
"""
SUGGESTED_CHARACTERS: Final = 1_000
"""A text with at most this many characters gets suggestions for unknown names.

Finding suggestions takes as long as the whole remaining validation.
"""
LONGEST_MESSAGE: Final = 400
"""The most characters of a message. graphql-core quotes the refused text, whatever its length."""


class Refused(Exception):
    """The error for a document that is not executed. `errors` say why."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__("refused")
        for error in errors:
            if len(error.message) > LONGEST_MESSAGE:
                error.message = f"{error.message[:LONGEST_MESSAGE]} …"
        self.errors = errors


def check_excess(found: str | None) -> None:
    """Do nothing if `found` is None. Otherwise raise Refused with the sentence `found`.

    The sentence says why a document or its variables are too large.
    """
    if found is not None:
        raise Refused([GraphQLError(found)])


def document_of(text: str) -> DocumentNode:
    """Return the parsed and validated document. Raise Refused if the document is invalid or too large."""
    return _remembered(text) if len(text) <= REMEMBERED_CHARACTERS else _read(text)


def _read(text: str) -> DocumentNode:
    check_excess(text_excess(text))
    try:
        document = parse(text, max_tokens=MOST_TOKENS, allow_empty_selection_sets=False)
        check_excess(excess(document))
        hides = len(text) > SUGGESTED_CHARACTERS
        errors = validate(schema(), document, RULES, max_errors=MOST_ERRORS, hide_suggestions=hides)
    except GraphQLSyntaxError as error:
        raise Refused([error]) from None
    except RecursionError:  # deeply nested fragments inside other fragments
        raise Refused([GraphQLError("The query is nested too deeply to be read.")]) from None
    if errors:
        raise Refused(errors)
    return document


_remembered = lru_cache(REMEMBERED)(_read)
