"""`wmsd article`."""

from wmsd.articles import actions, store
from wmsd.interfaces.cli.record_kind import RecordCommands
from wmsd.interfaces.cli.records import record_command

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
