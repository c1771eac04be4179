"""Reads what a client accepts (RFC 9110, section 12.4.2)."""


def weights_in(header: str) -> dict[str, float]:
    """The weights of the codings or media types in a header, in small letters: 1 where it gives none, 0 where what
    it gives is no number.
    """
    weights: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = (each.strip().lower() for each in part.split(";"))
        weights[name] = min((_weight(each) for each in parameters if each.startswith("q=")), default=1.0)
    return weights


def _weight(parameter: str) -> float:
    try:
        return float(parameter.removeprefix("q="))
    except ValueError:
        return 0.0
