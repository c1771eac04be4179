"""The command `wmsd client`."""

from wmsd.interfaces.cli.records.record_commands import RecordCommands, record_command
from wmsd.warehouse.directory import actions, directory_administration, store

client_command = record_command(
    RecordCommands(
        noun="client",
        table="clients",
        id_of_code=lambda tx, code: store.id_of_code(tx, store.CLIENTS, code),
        list=actions.list_clients,
        get=actions.get_client,
        create=directory_administration.create_client,
        change=directory_administration.change_client,
        listed=("code", "name", "tax_id", "active"),
    )
)
