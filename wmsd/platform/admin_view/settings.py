"""Every setting in force, from the declarations. Secrets are not shown."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from wmsd.contract.secret_fields import Secret
from wmsd.dispatch import masking
from wmsd.platform.admin_view.schema import SettingShown
from wmsd.platform.admin_view.setting_origins import DEFAULT, origin_of
from wmsd.settings.all_settings import Settings, sections
from wmsd.settings.paths import Layer
from wmsd.settings.sections.fields import ReadEachTime
from wmsd.settings.toml_writer import toml
from wmsd.tenants.sign_on.providers import NOT_SHOWN


def settings_as_json(settings: Settings, layers: Sequence[Layer]) -> dict[str, Any]:
    values = settings.model_dump()
    data = [
        _setting(section, key, field, values[section][key], layers).model_dump()
        for section, model in sections().items()
        for key, field in model.model_fields.items()
    ]
    file = next((each.name for each in layers if each.kind == "file"), None)
    return {"file": None if file is None else str(Path(file).absolute()), "data": data}


def value_as_toml(field: FieldInfo, value: object) -> str:
    """As TOML, for whoever is not the owner of the settings: without secrets."""
    return NOT_SHOWN if Secret in field.metadata and value else masking.text(toml(value))


def _setting(section: str, key: str, field: FieldInfo, value: object, layers: Iterable[Layer]) -> SettingShown:
    source, place, line = origin_of(layers, section, key)
    return SettingShown(
        name=f"{section}.{key}",
        value=value_as_toml(field, value),
        default=toml(field.default),
        is_default=source == DEFAULT.source or value == field.default,
        source=source,
        place=place,
        line=line,
        says=field.description or "",
        read="each time" if ReadEachTime in field.metadata else "at the start",
    )
