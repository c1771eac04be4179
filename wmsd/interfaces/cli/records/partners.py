"""`wmsd partner`."""

from wmsd.interfaces.cli.kit.record_kind import RecordCommands
from wmsd.interfaces.cli.records.record_commands import record_command
from wmsd.warehouse.directory import actions, store
from wmsd.warehouse.directory import directory_administration as administration

partner_command = record_command(
    RecordCommands(
        noun="partner",
        table="partners",
        id_of_code=lambda tx, code: store.id_of_code(tx, store.PARTNERS, code),
        list=actions.list_partners,
        get=actions.get_partner,
        create=administration.create_partner,
        change=administration.change_partner,
        listed=("code", "name", "type", "tax_id", "active"),
    )
)
