"""How many of something, for people: `1 user`, `3 users`."""


def counted(number: int, singular: str, plural: str = "") -> str:
    """`plural` is given where it is not the singular with an s."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"
