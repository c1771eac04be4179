"""What the guide says of monitoring is what is declared."""

from pathlib import Path

from wmsd import docs
from wmsd.app.measuring.counting import SURFACES
from wmsd.app.measuring.metrics import METRICS, Metric

PAGE = (Path(docs.__file__).parent / "monitoring.md").read_text(encoding="utf-8")


def test_every_metric_stands_in_the_table_as_it_is_told() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith(("| `wmsd_", "| `process_"))]
    assert rows == [f"| `{each.name}` | {type_of(each)} | {each.help} |" for each in METRICS]


def type_of(metric: Metric) -> str:
    return f"{metric.kind}, by {' and '.join(metric.labels)}" if metric.labels else metric.kind


def test_every_surface_is_named() -> None:
    assert [each for each in SURFACES if f"`{each}`" not in PAGE] == []
