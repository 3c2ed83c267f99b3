"""The figure of metrics: agreement with its interval, the ceiling, and what people tell apart."""

from pathlib import Path

import pytest
from support.judged_cases import write_judged

from nnd.metric.other_metrics import MetricTable, metrics


@pytest.fixture(scope="module")
def table(sample: Path) -> MetricTable:
    """Two metrics on the five systems of the sample."""
    found = metrics(data=sample, scorers=["length", "overlap"])
    assert isinstance(found, MetricTable)
    return found


def test_a_row_has_the_correlation_of_its_metric_and_the_interval(table: MetricTable) -> None:
    drawing = table.drawing()
    agreements = [row.systems for row in table.rows if row.systems is not None]
    overall = [each.by_category["overall"] for each in agreements]
    assert [each["metric"] for each in drawing.data] == ["length", "overlap"]
    assert [each["gap_r"] for each in drawing.data] == [e.statistics["pearson"] for e in overall]
    assert [each["interval"] for each in drawing.data] == [e.intervals["pearson"] for e in overall]
    texts = [mark.text for mark in drawing.marks.values()]
    assert sum(text.startswith(("length: gap r ", "overlap: gap r ")) for text in texts) == 2


def test_the_ceiling_and_what_people_tell_apart_are_told(table: MetricTable) -> None:
    noise = table.human_noise
    assert noise is not None
    assert noise.pairs == 10  # of five systems
    assert f"{noise.sentence()}." in table.drawing().caption
    assert f"{noise.sentence()}." in table.details()
    assert (noise.ceiling is None) == (
        not any("the ceiling" in mark.text for mark in table.drawing().marks.values())
    )


def test_three_systems_are_too_few_to_draw(tmp_path: Path) -> None:
    few = metrics(data=write_judged(tmp_path / "judged"), scorers=["length"])
    assert isinstance(few, MetricTable)
    assert few.drawing() is None
