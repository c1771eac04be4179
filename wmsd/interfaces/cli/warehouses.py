"""`wmsd warehouse`."""

from wmsd.directory import actions, administration, store
from wmsd.interfaces.cli.record_kind import RecordCommands
from wmsd.interfaces.cli.records import record_command

warehouse_command = record_command(
    RecordCommands(
        noun="warehouse",
        table="warehouses",
        id_of_code=lambda tx, code: store.id_of_code(tx, store.WAREHOUSES, code),
        list=actions.list_warehouses,
        get=actions.get_warehouse,
        create=administration.create_warehouse,
        change=administration.change_warehouse,
        listed=("code", "name", "address", "active"),
    )
)
