"""A source of invented judgements in several splits, for tests of what scores one of them."""

from collections.abc import Sequence
from pathlib import Path

from nnd.converters.folder import convert

FACTS = """\
name: letters
pretty_name: Letters
task: summarization
languages: [en]
licence: CC0-1.0
redistribution: allowed
citation: "@misc{letters, title = {Letters}}"
files: [{name: letters.csv, url: null, sha256: null, bytes: null}]
aspects: {good: Is it good?}
quality: {rule: no_error, no_error: good}
taxonomy: {bad: {name: Bad, group: null, description: It is bad.}}
systems: {otter: null, badger: null, marten: null}
expected: null
table:
  inputs: {text: text}
  columns: {context_id: id, candidate: candidate, system: system, split: split}
  labels: {good: label}
split: the source's own
homepage: https://example.org/letters
notes: []
task_categories: [summarization]
source_datasets: [original]
texts: Letters.
annotators: [expert-generated]
annotation_process: None.
limitations: [It is invented.]
personal_information: None.
"""


def write_letters(folder: Path, splits: Sequence[str]) -> Path:
    """Convert letters: four per split, answered by otter, badger and marten; return the folder.

    The otter is good at all of them, the badger at as many as the number of the split, from 0, and
    the marten at none.
    """
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "source.yaml").write_text(FACTS, encoding="utf-8")
    lines = ["id,text,split,system,candidate,label"]
    for number, split in enumerate(splits):
        for letter in range(4):
            labels = {"otter": "good", "badger": "good" if letter < number else "bad"}
            for system, label in (labels | {"marten": "bad"}).items():
                text = f"{system} answers letter {letter} of the {split} days."
                row = (f"{split}{letter}", f"Letter {letter} of {split}.", split, system, text)
                lines.append(",".join((*row, label)))
    (folder / "letters.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    convert(source, origin=folder / "letters.csv", out=folder / "letters-nnd")
    return folder / "letters-nnd"
