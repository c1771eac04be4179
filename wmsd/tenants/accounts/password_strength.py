"""The one rule for new passwords, for the command line and the pages."""

import re
import threading
from collections.abc import Iterable, Sequence, Set

from wmsd.base.letters import prepared_password
from wmsd.base.problems import FieldErrors

SHORTEST = 10
LONGEST = 1024
FEWEST_GUESSES = 10**8
"""zxcvbn's "safely unguessable" begins here (Wheeler, 2016): with argon2id, months of a processor's time."""
LOOKED_AT = 72
"""Characters that are estimated: zxcvbn is slow on long texts, and these are enough."""
EASY_WORDS = ("wmsd", "warehouse", "depozit")
"""Words that come to mind first in a warehouse."""
IN_WORDS = (
    f"A password has at least {SHORTEST} characters and is not easy to guess: four words that do not belong "
    "together make a good one."
)
"""What to say before it is typed."""

_one_at_a_time = threading.Lock()  # zxcvbn keeps the user's words in a global


def password_errors(password: str, email: str, name: str) -> FieldErrors:
    """Errors of a password that this user chooses. Takes up to 2 s: not for the event loop."""
    password = prepared_password(password)
    if not SHORTEST <= len(password) <= LONGEST:
        return {"password": [f"must have from {SHORTEST} to {LONGEST} characters"]}
    if _is_easy(password, email, name):
        return {"password": ["is too easy to guess: choose four words that do not belong together"]}
    return {}


def chosen_password_errors(password: str, again: str, email: str, name: str) -> FieldErrors:
    """As `password_errors`, for one that was typed twice."""
    if errors := password_errors(password, email, name):
        return errors
    is_same = prepared_password(password) == prepared_password(again)
    return {} if is_same else {"again": ["is not the same as the password"]}


def _is_easy(password: str, email: str, name: str) -> bool:
    from zxcvbn import zxcvbn  # 30 ms that a start does not need
    from zxcvbn.matching import RANKED_DICTIONARIES

    own = (email, email.partition("@")[0], name)
    own_words = {word for text in own for word in _words(text)} | set(EASY_WORDS)
    if password.lower() in RANKED_DICTIONARIES["passwords"] or _says_little(_words(password), own, own_words):
        return True
    known = [*own, *sorted(word for word in own_words if len(word) > 2)]
    with _one_at_a_time:
        estimate = zxcvbn(password[:LOOKED_AT], user_inputs=known)
    return bool(estimate["guesses"] < FEWEST_GUESSES)


def _says_little(words: Sequence[str], own: Iterable[str], own_words: Set[str]) -> bool:
    """Whether it only repeats one word, or has only the user's own words: zxcvbn overrates the spaces between
    them.
    """
    said = set(words)
    if len(words) > 1 and len(said) == 1:
        return True
    joined = "".join(words)
    repeated = any(text and not joined.replace(text, "") for text in ("".join(_words(text)) for text in own))
    return bool(words) and (said <= own_words or repeated)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
