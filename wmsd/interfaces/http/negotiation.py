"""The weights in a client's Accept headers (RFC 9110, section 12.4.2)."""


def weights_in(header: str) -> dict[str, float]:
    """Return the weight of each coding or media type in the header. The keys are the names in lower case.

    If a weight is missing, it is 1. If it is invalid, it is 0.
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
