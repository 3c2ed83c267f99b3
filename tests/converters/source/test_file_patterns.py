"""Files declared by a pattern: read as one, whatever their names, which nothing repeats."""

import hashlib
import json
from pathlib import Path

import yaml
from support.refusals import refusal

from nnd.converters.folder.conversion import convert

SOURCE = {
    "name": "pond",
    "pretty_name": "Pond",
    "task": "summarization",
    "languages": ["en"],
    "licence": "CC0-1.0",
    "redistribution": "allowed",
    "citation": "@misc{pond}",
    "homepage": None,
    "aspects": {"truth": "Is it true?"},
    "quality": {"rule": "no_error", "no_error": "yes"},
    "taxonomy": {"no": {"name": "No", "group": None, "description": "It is not."}},
    "systems": {"*": None},
    "split": "one split, `test`",
    "expected": None,
    "table": {
        "columns": {"candidate": "text", "system": "by"},
        "inputs": {"article": "article"},
        "labels": {"truth": "label"},
    },
}
TRUE = {"article": "Otters swim.", "text": "They do.", "by": "heron", "label": "yes"}
FALSE = {"article": "Otters swim.", "text": "They sink.", "by": "carp", "label": "no"}


def write(folder: Path, files: dict[str, str], sha256: str | None = None) -> Path:
    """Write a source whose annotation files are those of a pattern, in the folder `people`."""
    size = None if sha256 is None else 1
    declared = [{"name": "people/*.jsonl", "url": None, "sha256": sha256, "bytes": size}]
    (folder / "people").mkdir(parents=True)
    (folder / "source.yaml").write_text(yaml.safe_dump({**SOURCE, "files": declared}))
    for name, content in files.items():
        (folder / "people" / name).write_text(content)
    return folder


def test_names_and_order_of_the_files_do_not_matter(tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in (TRUE, FALSE)]
    # A file that does not end in a line feed gets one.
    one = write(tmp_path / "one", {"ada.jsonl": lines[0], "bo.jsonl": lines[1] + "\n"})
    other = write(tmp_path / "other", {"z.jsonl": lines[0], "a.jsonl": lines[1]})
    whole = "".join(line + "\n" for line in sorted(lines)).encode()

    found, again = (convert(folder, origin=folder) for folder in (one, other))

    assert found.pairs.height == 1
    assert found.manifest == again.manifest
    assert found.manifest["files"] == [
        {
            "name": "people/*.jsonl",
            "sha256": hashlib.sha256(whole).hexdigest(),
            "bytes": len(whole),
            "verified": False,
        }
    ]


def test_an_error_names_no_file_of_the_pattern(tmp_path: Path) -> None:
    wrong = json.dumps(FALSE | {"label": "never"})
    folder = write(tmp_path, {"ada.jsonl": json.dumps(TRUE), "bo.jsonl": wrong})

    with refusal("row.wrong-shape", "people.jsonl:2: label") as caught:
        convert(folder, origin=folder)

    assert "bo" not in str(caught.value).replace(str(tmp_path), "")


def test_other_content_than_the_declared_one_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, {"ada.jsonl": json.dumps(TRUE)}, sha256="0" * 64)

    with refusal("source.another-file", "people.jsonl"):
        convert(folder, origin=folder)


def test_a_pattern_that_nothing_fits_is_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path, {})

    with refusal("file.not-found", "test_a_pattern_that_nothing_fi0"):
        convert(folder, origin=folder)
