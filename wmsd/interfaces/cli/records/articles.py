"""The command `wmsd article`."""

from wmsd.interfaces.cli.records.record_commands import RecordCommands, record_command
from wmsd.warehouse.articles import actions, store

article_command = record_command(
    RecordCommands(
        noun="article",
        table="articles",
        id_of_code=store.id_of_code,
        list=actions.list_articles,
        get=actions.get_article,
        create=actions.create_article,
        change=actions.update_article,
        listed=("code", "name", "unit", "barcode", "client", "active"),
    )
)
