"""The command `wmsd partner`."""

from wmsd.interfaces.cli.records.record_commands import RecordCommands, record_command
from wmsd.warehouse.directory import actions, directory_administration, store

partner_command = record_command(
    RecordCommands(
        noun="partner",
        table="partners",
        id_of_code=lambda tx, code: store.id_of_code(tx, store.PARTNERS, code),
        list=actions.list_partners,
        get=actions.get_partner,
        create=directory_administration.create_partner,
        change=directory_administration.change_partner,
        listed=("code", "name", "type", "tax_id", "active"),
    )
)
