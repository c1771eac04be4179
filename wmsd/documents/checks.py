"""Doctor's checks that hold for every kind of document."""

from wmsd.base.checking import Check
from wmsd.documents.table import DocumentTable


def status_checks(table: DocumentTable) -> tuple[Check, Check]:
    noun, name, counts = table.noun, table.name, table.tally
    partner = "partner_id" if counts.by_partner else "0 AS partner_id"
    named = "'partner ' || coalesce(kept.partner_id, counted.partner_id) || ', ' || " if counts.by_partner else ""
    reached = f"""
        SELECT code, json_extract(status_history, '$[#-1].status'), status FROM {name}
        WHERE status IS NOT json_extract(status_history, '$[#-1].status')
    """
    counted = f"""
        WITH counted AS (SELECT status, {partner}, count(*) AS rows FROM {name} GROUP BY 2, 1),
            kept AS (SELECT status, {partner}, rows FROM {counts.table})
        SELECT {named}'status ' || coalesce(kept.status, counted.status),
            coalesce(counted.rows, 0), coalesce(kept.rows, 0)
        FROM kept
        FULL JOIN counted ON counted.status = kept.status AND counted.partner_id = kept.partner_id
        WHERE coalesce(counted.rows, 0) <> coalesce(kept.rows, 0)
    """
    return (
        Check(f"the status of a {noun} is the last that it reached", reached, in_millionths=False),
        Check(f"{noun}s are as many as their counts say", counted, in_millionths=False),
    )
