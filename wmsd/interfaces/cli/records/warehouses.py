"""The command `wmsd warehouse`."""

from wmsd.interfaces.cli.records.record_commands import RecordCommands, record_command
from wmsd.warehouse.directory import actions, directory_administration, store

warehouse_command = record_command(
    RecordCommands(
        noun="warehouse",
        table="warehouses",
        id_of_code=lambda tx, code: store.id_of_code(tx, store.WAREHOUSES, code),
        list=actions.list_warehouses,
        get=actions.get_warehouse,
        create=directory_administration.create_warehouse,
        change=directory_administration.change_warehouse,
        listed=("code", "name", "address", "active"),
    )
)
