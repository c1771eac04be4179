"""The guide page that lists every setting. The page is generated from the declarations of the settings."""

from typing import Final

from wmsd.interfaces.guide.source import Source, table_cell
from wmsd.settings.all_settings import sections
from wmsd.settings.toml_writer import as_written

TITLE: Final = "Settings"
ABOVE: Final = f"""# {TITLE}

Every setting with its default and its meaning. wmsd takes the value of a setting from the first of these places
that has it: a flag, the environment, the configuration file, the default. The configuration file is `config.toml`
in the folder where wmsd is started, or the file that `--config` or `WMSD_CONFIG` names. `config.example.toml` has
all settings with their defaults.

A path in the configuration file is relative to that file. A path in a flag or in the environment is relative to
the current directory.

The setting `server.listen` is the key `listen` in the section `[server]` of the file, and `WMSD_SERVER_LISTEN` in
the environment. `wmsd config show` shows the settings in force, and `wmsd config check` finds errors. wmsd reads
the settings when it starts, so restart wmsd after a change.
"""


def settings_page() -> str:
    lines = [ABOVE]
    for section, declared in sections().items():
        lines += [f"## {section}", "", f"{declared.__doc__}", "", "| setting | default | means |", "|---|---|---|"]
        lines += [
            f"| `{section}.{key}` | `{as_written(field.default)}` | {table_cell(field.description or '')} |"
            for key, field in declared.model_fields.items()
        ]
        lines.append("")
    return "\n".join(lines)


SETTINGS: Final = Source(TITLE, settings_page)
