"""The settings of the environment: `WMSD_SECTION_KEY`."""

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from typing import Final, get_origin

from wmsd.settings.all_settings import declared_settings, section_of, table_of
from wmsd.settings.paths import Layer, Values

ENVIRONMENT: Final = "WMSD_"
NOT_SETTINGS: Final = frozenset({"WMSD_CONFIG", "WMSD_URL", "WMSD_TOKEN", "WMSD_COMPANY"})
"""The variables that begin with WMSD_, but are not settings. WMSD_CONFIG names the configuration file. The other
variables are from examples in the guide and the reference.
"""
OF_A_CLUSTER: Final = re.compile(
    r"WMSD(_SERVER|_WEB)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)"
)
"""The variables that Kubernetes and similar systems set for a service named wmsd, wmsd-server or wmsd-web."""
URL_OF_A_CLUSTER: Final = re.compile(r"WMSD(_SERVER|_WEB)?_PORT")
"""Further variables that Kubernetes sets, such as WMSD_PORT. A user may have set them too. Therefore they count as
set by Kubernetes only if the value is a URL such as tcp://10.0.0.7:80.
"""
LISTENING: Final = re.compile("(port|host|address|bind)$")
"""Finds a word such as `port` at the end of a variable's name. Other programs use these words for the setting that
wmsd calls `listen`.
"""
PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
"""The variables that other programs read a proxy from."""
NEAR: Final = 0.7
"""If two names have at least this similarity, one of them may be a misspelling of the other. Equal names have the
similarity 1.
"""


def from_environment(environment: Mapping[str, str] | None) -> tuple[Layer, list[str]]:
    """Return the settings from the environment, by default from `os.environ`.

    Also return an error sentence for each variable that looks like a misspelt setting, or that sets a list of
    tables.
    """
    environment = os.environ if environment is None else environment
    known = _known()
    values: Values = {}
    wrong: list[str] = []
    for name, text in environment.items():
        if name in known:
            section, key = known[name]
            field = section_of(section).model_fields[key]
            if table_of(field) is not None:
                wrong.append(f"the environment: {name} contains tables; set it in the configuration file.")
                continue
            is_list = get_origin(field.annotation) is list
            members = [part.strip() for part in text.split(",") if part.strip()]
            values.setdefault(section, {})[key] = members if is_list else text
        elif _is_meant(name, text) and (nearest := _nearest_variable(name)):
            wrong.append(f"the environment: {name} is not a setting; did you mean {nearest}?")
    return Layer("environment", "the environment", values), wrong


def unused_variables(proxy: str, environment: Mapping[str, str] | None = None) -> list[str]:
    """Return warnings about environment variables that wmsd ignores: variables that look like settings but are
    not, and variables that Kubernetes has set.

    `proxy` is the proxy in the settings, or "". If it is "", also warn about proxy variables such as HTTPS_PROXY.
    """
    environment = os.environ if environment is None else environment
    unknown = {name: text for name, text in environment.items() if name.startswith(ENVIRONMENT)}
    of_a_cluster = sorted(name for name, text in unknown.items() if _is_of_a_cluster(name, text))
    others = sorted(
        name for name, text in unknown.items() if _is_meant(name, text) and not _nearest_variable(name)
    )
    sentences = []
    if of_a_cluster:
        names = ", ".join(of_a_cluster)
        sentences.append(
            f"The cluster has set {names} for a service with this name. wmsd ignores these variables."
        )
    if others:
        sentences.append(
            f"wmsd ignores these environment variables, because they are not settings: {', '.join(others)}."
        )
    if not proxy and (found := [name for name in PROXIES if environment.get(name)]):
        sentences.append(
            f"wmsd ignores the proxy of the environment ({', '.join(found)}). To send webhooks through a "
            "proxy, set webhooks.proxy."
        )
    return sentences


def _known() -> dict[str, tuple[str, str]]:
    return {f"{ENVIRONMENT}{section}_{key}".upper(): (section, key) for section, key, _ in declared_settings()}


def _is_meant(name: str, text: str) -> bool:
    """Return True if the unknown variable `name` with the value `text` was probably intended as a setting."""
    if not name.startswith(ENVIRONMENT) or name in NOT_SETTINGS or name in _known():
        return False
    return not _is_of_a_cluster(name, text)


def _is_of_a_cluster(name: str, text: str) -> bool:
    if name in _known():
        return False
    return bool(OF_A_CLUSTER.fullmatch(name) or (URL_OF_A_CLUSTER.fullmatch(name) and "://" in text))


def _nearest_variable(name: str) -> str | None:
    """Return the known variable that a user probably meant by the unknown variable `name`, or None.

    A known variable fits if it ends with the part of `name` after WMSD_, or if it is very similar to `name`. A
    word such as `port` at the end of `name` counts as `listen`.
    """
    names = _known()
    ending = LISTENING.sub("listen", name.removeprefix(ENVIRONMENT).lower())
    same_end = [each for each in names if each.lower().endswith(f"_{ending}")]
    return next(iter(same_end), None) or _nearest(name, names, NEAR)


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the end of an error sentence about the unknown `name`: "; did you mean X?", where X is the most
    similar name in `known`. If no known name is similar, return ".".
    """
    nearest = _nearest(name, known, 0.4)
    return "." if nearest is None else f"; did you mean {nearest}?"


def _nearest(name: str, known: Iterable[str], least: float) -> str | None:
    names = {one.lower(): one for one in known}
    if (listen := LISTENING.sub("listen", name.lower())) in names:
        return names[listen]
    found = difflib.get_close_matches(name.lower(), list(names), n=1, cutoff=least)
    return names[found[0]] if found else None
