"""The real state of the shop, read from outside: over HTTP, and by the doctor."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.processes import WMSD, environment
from replay.records import Records, put, put_document
from replay.shop import Shop


def put_records(records: Records, shop: Shop) -> None:
    partners = {id: code for code, id in shop.ids("/api/partners").items()}
    _put_purchases_and_receptions(records, shop, partners)
    _put_orders_and_returns(records, shop, partners)
    put_stock(records, shop, "Stock of")
    for name, count in Counter(event["event"] for event in shop.walk("/api/v2/events")).items():
        put(records, f"Events {name}", count)


def _put_purchases_and_receptions(records: Records, shop: Shop, partners: dict[int, str]) -> None:
    refs: dict[int, str] = {}
    for record in shop.pages("/api/purchase-orders"):
        ref = refs[record["id"]] = record["external_ref"]
        header = (partners[record["partner_id"]], record["status"])
        lines = [(each["article_code"], each["quantity"], each["received_quantity"]) for each in record["items"]]
        put_document(records, f"Purchase order {ref}", header, _way(record), lines)
    for record in shop.pages("/api/receptions"):
        header = (refs[record["purchase_order_id"]], record["status"])
        arrivals = [
            (
                *(each["article_code"], each["quantity_um3pl"], each["quantity"]),
                *(each["lot_number"], each["serial_data"] or []),
            )
            for each in record["selected_items"]
        ]
        put_document(records, f"Reception {record['external_ref']}", header, _way(record), arrivals)


def _put_orders_and_returns(records: Records, shop: Shop, partners: dict[int, str]) -> None:
    refs: dict[int, str] = {}
    for record in shop.walk("/api/v2/sales-orders"):
        ref = refs[record["id"]] = record["external_ref"]
        sold = (partners[record["partner_id"]], record["requested_date"], record["status"])
        lines = [(each["article_code"], each["quantity"]) for each in record["lines"]]
        put_document(records, f"Order {ref}", sold, _way(record), lines)
    for record in shop.pages("/api/returns"):
        order_id = record["sales_order_id"]
        returned = (partners[record["partner_id"]], order_id and refs[order_id], record["status"])
        parts = [
            (
                *(each["article_code"], each["quantity"], each["disposition"]),
                *(each["lot_number"], each["serials"] or []),
            )
            for each in record["lines"]
        ]
        put_document(records, f"Return {record['external_ref']}", returned, _way(record), parts)


def _way(record: Any) -> tuple[str, ...]:
    return tuple(reached["status"] for reached in record["status_history"])


def put_stock(records: Records, shop: Shop, what: str) -> None:
    for record in shop.walk("/api/v2/stock", detail="lots"):
        name = f"{what} {record['article_code']}"
        put(records, name, tuple(record[each] for each in ("quantity", "reserved", "quarantined", "available")))
        for lot in record["lots"]:
            put(records, f"{name} lot {lot['lot_number']}", (lot["quantity"], lot["available"]))
        for serial in record["serials"] or []:
            put(records, f"{name} serial {serial}", "there")


def doctors_findings(data: Path) -> Iterator[str]:
    """Yield each finding of `wmsd doctor` about the data folder as a sentence."""
    command: list[str | Path] = [WMSD, "doctor", "--data", data, "--json"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if not done.stdout:
        yield f"wmsd doctor ended with {done.returncode}: {done.stderr[-2000:]}"
        return
    for company in json.loads(done.stdout):
        if "error" in company:
            yield f"wmsd doctor cannot examine {company['file']}: {company['error']}"
        if company.get("damage") or company.get("unproved"):
            yield (
                f"wmsd doctor reports that {company['file']} is damaged: {company['damage']}, "
                f"{company['unproved']}."
            )
        for each in company.get("differences", []):
            said = f"{each['promise']}; but {each['record']}"
            yield f"wmsd doctor: {said}: expected {each['expected']}, found {each['found']}."
