"""The rule for new passwords, shared by the command line and the pages."""

import re
import threading
from collections.abc import Iterable, Sequence, Set

from wmsd.base.letters import prepared_password
from wmsd.base.problems import FieldErrors

SHORTEST = 10
LONGEST = 1024
FEWEST_GUESSES = 10**8
"""The number of guesses that a new password must withstand. zxcvbn calls a password of this strength "safely
unguessable" (Wheeler, 2016). With argon2id, this number of guesses takes months of a processor's time.
"""
LOOKED_AT = 72
"""How many characters of a password zxcvbn checks. It is slow on long texts, and these characters are enough."""
EASY_WORDS = ("wmsd", "warehouse", "depozit")
"""Words that an attacker is likely to guess for a warehouse."""
IN_WORDS = (
    f"A password needs at least {SHORTEST} characters and must not be easy to guess. Four unrelated "
    "words make a good password."
)
"""The hint to show before the user types a password."""

_one_at_a_time = threading.Lock()  # zxcvbn stores the user's words in a global variable


def password_errors(password: str, email: str, name: str) -> FieldErrors:
    """Return an error if a password is too short, too long or easy to guess. `email` and `name` are the user's
    e-mail address and name. A password that consists of their words is easy to guess.

    Call this function on a thread, because it takes up to 2 s.
    """
    password = prepared_password(password)
    if not SHORTEST <= len(password) <= LONGEST:
        return {"password": [f"must have from {SHORTEST} to {LONGEST} characters"]}
    if _is_easy(password, email, name):
        return {"password": ["is too easy to guess: choose four unrelated words"]}
    return {}


def chosen_password_errors(password: str, again: str, email: str, name: str) -> FieldErrors:
    """Return the errors of a password that was typed twice. These are the errors of `password_errors`, or an error
    if `again` differs from `password`.
    """
    if errors := password_errors(password, email, name):
        return errors
    is_same = prepared_password(password) == prepared_password(again)
    return {} if is_same else {"again": ["does not match the password"]}


def _is_easy(password: str, email: str, name: str) -> bool:
    from zxcvbn import zxcvbn  # takes 30 ms, which a start does not need
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
    """Return True if the password is one repeated word, consists only of `own_words`, or consists of a text in
    `own`, once or repeated. zxcvbn overrates these passwords, because of the spaces between the words.

    `words` are the words of the password. `own` has the user's e-mail address, its part before the @, and the
    user's name. `own_words` has the words in `own`, and EASY_WORDS.
    """
    said = set(words)
    if len(words) > 1 and len(said) == 1:
        return True
    joined = "".join(words)
    repeated = any(text and not joined.replace(text, "") for text in ("".join(_words(text)) for text in own))
    return bool(words) and (said <= own_words or repeated)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
