"""Documents of a later version are read for what this one knows, with one sentence."""

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nnd.converters.folder import convert
from nnd.metric.data import load_pairs, read_run
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.run import evaluate
from nnd.metric.show import report
from nnd.schemas import ScoringWarning, seal


@pytest.fixture(scope="module")
def place(loaded: Callable[[str], LoadedModel], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a run on it, and both as a later version would write them."""
    place = tmp_path_factory.mktemp("newer")
    convert("sample", out=place / "data")
    evaluate(loaded("gpt2"), place / "data", out=place / "run", scoring=Scoring(cache=False))
    for name, document in (("data", "manifest.json"), ("run", "result.json")):
        shutil.copytree(place / name, place / f"later-{name}")
        path = place / f"later-{name}" / document
        facts = json.loads(path.read_text(encoding="utf-8"))
        del facts["digest"]
        facts |= {"nnd_version": "99.1.0", "of_a_later_version": {"a": [1]}}
        if "results" in facts:
            facts["results"][0]["of_a_later_version"] = 1
        path.write_text(json.dumps(seal(facts)), encoding="utf-8")
    return place


READERS: dict[str, Callable[[Path], Any]] = {
    "load": lambda place: load_pairs(place / "later-data").pairs.rows(),
    "read": lambda place: read_run(place / "later-run").rows(),
    "report": lambda place: report(place / "later-run", place / "page.html"),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_later_document_is_read_with_one_sentence(reader: str, place: Path) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        READERS[reader](place)
    said = [*{str(each.message) for each in heard if each.category is ScoringWarning}]
    assert len(said) == 1, said
    assert "99.1.0" in said[0]


@pytest.mark.parametrize("version", ["0.3.0", "0.2", "", "later", "٩٩.1", "9" * 5_000])
def test_other_versions_are_read_without_a_word(version: str, place: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(place / "later-data", tmp_path / "data"))
    facts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    del facts["digest"]
    text = json.dumps(seal(facts | {"nnd_version": version}))
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert load_pairs(folder).pairs.height
    assert [*heard] == []
