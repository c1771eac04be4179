"""What every kind of document with a status promises."""

from wmsd.base.checking import Check


def status_checks(noun: str, table: str, counts: str, by_partner: bool = True) -> tuple[Check, Check]:
    """`counts` is the table of (partner_id, status, rows) that its triggers keep; without partner_id when it is
    not `by_partner`.
    """
    partner = "partner_id" if by_partner else "0 AS partner_id"
    named = "'partner ' || coalesce(kept.partner_id, counted.partner_id) || ', ' || " if by_partner else ""
    reached = f"""
        SELECT code, json_extract(status_history, '$[#-1].status'), status FROM {table}
        WHERE status IS NOT json_extract(status_history, '$[#-1].status')
    """
    counted = f"""
        WITH counted AS (SELECT status, {partner}, count(*) AS rows FROM {table} GROUP BY 2, 1),
            kept AS (SELECT status, {partner}, rows FROM {counts})
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
