"""The model of all settings, section by section."""

from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wmsd.settings.sections.alerts import Alerts
from wmsd.settings.sections.backup import Backup
from wmsd.settings.sections.fields import Section
from wmsd.settings.sections.imports import Imports
from wmsd.settings.sections.limits import Limits
from wmsd.settings.sections.log import Log
from wmsd.settings.sections.metrics import Metrics
from wmsd.settings.sections.replica import Replica
from wmsd.settings.sections.requests import Requests
from wmsd.settings.sections.returns import Returns
from wmsd.settings.sections.server import Server
from wmsd.settings.sections.sessions import Sessions
from wmsd.settings.sections.sign_on import SignOn
from wmsd.settings.sections.storage import Storage
from wmsd.settings.sections.tokens import Tokens
from wmsd.settings.sections.webhooks import Webhooks


class Settings(Section):
    server: Server = Server()
    limits: Limits = Limits()
    storage: Storage = Storage()
    tokens: Tokens = Tokens()
    sessions: Sessions = Sessions()
    sign_on: SignOn = SignOn()
    requests: Requests = Requests()
    imports: Imports = Imports()
    webhooks: Webhooks = Webhooks()
    backup: Backup = Backup()
    replica: Replica = Replica()
    returns: Returns = Returns()
    metrics: Metrics = Metrics()
    alerts: Alerts = Alerts()
    log: Log = Log()


def declared_settings() -> list[tuple[str, str, Any]]:
    """Return every setting as section, key and default."""
    return [
        (section, key, field.default)
        for section in Settings.model_fields
        for key, field in section_of(section).model_fields.items()
    ]


def default_of(section: str, key: str) -> Any:
    """Return the default of a setting, or None if there is no such setting."""
    return next((default for *name, default in declared_settings() if name == [section, key]), None)


def sections() -> dict[str, type[Section]]:
    """Return the declaration of each section, by its name."""
    return {name: section_of(name) for name in Settings.model_fields}


def section_of(name: str) -> type[Section]:
    section: Section = Settings.model_fields[name].default
    return type(section)


def table_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of one table if the setting is a list of tables. Return None for any other setting."""
    members = get_args(field.annotation) if get_origin(field.annotation) is list else ()
    return members[0] if members and isinstance(members[0], type) and issubclass(members[0], BaseModel) else None
