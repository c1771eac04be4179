"""The guide's text about monitoring agrees with the declarations."""

import json
import re
from pathlib import Path

from wmsd import docs
from wmsd.dispatch.request_measures import SURFACES
from wmsd.server.alerts.alert_json import alert_body
from wmsd.server.alerts.alerts_file import Notice
from wmsd.server.alerts.kinds import KINDS
from wmsd.server.figures.metrics import METRICS, Metric

PAGE = (Path(docs.__file__).parent / "monitoring.md").read_text(encoding="utf-8")


def test_every_metric_stands_in_the_table_as_it_is_told() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith(("| `wmsd_", "| `process_"))]
    assert rows == [f"| `{each.name}`{labels_of(each)} | {each.help} |" for each in METRICS]


def labels_of(metric: Metric) -> str:
    return f", by {' and '.join(metric.labels)}" if metric.labels else ""


def test_every_surface_is_named() -> None:
    assert [each for each in SURFACES if f"`{each}`" not in PAGE] == []


def test_every_alert_stands_in_the_table_with_its_severity() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (error|warning) \|", PAGE, re.MULTILINE)
    assert rows == [(each.name, each.severity) for each in KINDS]


def test_the_example_of_an_alert_is_as_it_is_sent() -> None:
    shown = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
    data = shown["data"]
    notice = Notice(
        id="alert_1",
        number=1,
        event=shown["event"],
        kind=data["kind"],
        subject=data["subject"],
        facts=data["facts"],
        begun_at=data["begun_at"],
        at=shown["timestamp"],
    )
    own = {name: data[name] for name in ("host", "data_folder", "version")}
    sent = alert_body(notice, Path("data"))
    assert shown == {**sent, "data": {**sent["data"], **own}}
