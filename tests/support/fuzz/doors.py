"""A valid file for each door through which strangers' files come, and what it says, read plainly.

A door's `plain` is a literal reading of the structure that the file was written from, and raises
`Wrong` where that cannot be read: then the door must refuse the file.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from nnd.converters.folder.conversion import convert
from nnd.metric.data import load_pairs
from nnd.metric.data.dataset_files import hub_files
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.numbers.agreement.from_results import read_pass_rates
from nnd.metric.other_metrics.scorers.references import read_references
from nnd.metric.other_metrics.stored_values import read_values
from nnd.metric.run.harness.samples import read_files, read_samples
from nnd.metric.run.lists.list_entries import read_entries
from nnd.metric.run.model_cost import ModelCost, read_costs
from nnd.schemas.reading.yaml import read_yaml

NAMES = ("context", "candidate_high", "candidate_low", "error_category")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
TWICE = "__twice__"
"""What the name of a key begins with that is also in the file without it."""
MODEL = "tiny"


class Wrong(Exception):  # noqa: N818 - not an error of the tests
    """A value cannot be read."""


@dataclass(frozen=True)
class Door:
    """A kind of file.

    Attributes:
        structure: What a valid file holds.
        write: Writes it, or anything like it, into a folder.
        read: Reads it as the commands do.
        plain: What must come out of it.
    """

    structure: Any
    write: Callable[[Any, Path], None]
    read: Callable[[Path], Any]
    plain: Callable[[Any], Any]


# --- values ----------------------------------------------------------------------------------


def text_of(value: object, *, empty: object = Wrong) -> Any:
    if value is None or (isinstance(value, str) and not value.strip()):
        if empty is Wrong:
            raise Wrong
        return empty
    if not isinstance(value, str) or "\0" in value or re.search("[\ud800-\udfff]", value):
        raise Wrong
    return value


def number_of(value: object) -> float | None:
    """Return the number that a cell is or spells, None for an empty one."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Wrong
    try:
        found = float(value)
    except OverflowError as error:
        raise Wrong from error
    if not math.isfinite(found):
        raise Wrong
    return found


def check(value: object, levels: int = 100) -> None:
    """Raise Wrong for what no JSON file may hold, wherever it stands."""
    if isinstance(value, dict | list):
        if not levels:
            raise Wrong
        for each in value.values() if isinstance(value, dict) else value:
            check(each, levels - 1)
    if isinstance(value, dict) and any(key.startswith(TWICE) for key in value):
        raise Wrong
    if isinstance(value, str) and (text_of(value or "-", empty="") is None):
        raise Wrong


def objects(value: object, *, in_lines: bool = True) -> list[dict[str, Any]]:
    """Return the rows of a table; in a file of lines, the levels of each line count."""
    check(value, 101 if in_lines else 100)
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
        raise Wrong
    return value


# --- how files are written -------------------------------------------------------------------


def json_text(value: object, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent).replace(f'"{TWICE}', '"')


def as_jsonl(name: str) -> Callable[[Any, Path], None]:
    def write(value: Any, folder: Path) -> None:
        lines = value if isinstance(value, list) else [value]
        (folder / name).write_text("".join(f"{json_text(line)}\n" for line in lines))

    return write


def as_json(name: str) -> Callable[[Any, Path], None]:
    return lambda value, folder: (folder / name).write_text(json_text(value, 1)) and None


def cells_of(rows: Any) -> list[list[str]]:
    """Return the header and the cells of rows, as a program that knows texts only writes them."""
    rows = [row for row in (rows if isinstance(rows, list) else [rows]) if isinstance(row, dict)]
    header = list(dict.fromkeys(key for row in rows for key in row))
    cells = [["" if row.get(key) is None else _cell(row[key]) for key in header] for row in rows]
    return [[key.removeprefix(TWICE) for key in header], *cells]


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def as_csv(name: str) -> Callable[[Any, Path], None]:
    def write(value: Any, folder: Path) -> None:
        text = io.StringIO()
        csv.writer(text).writerows(cells_of(value))
        (folder / name).write_bytes(text.getvalue().encode("utf-8", "surrogatepass"))

    return write


def as_yaml(name: str, head: str = "") -> Callable[[Any, Path], None]:
    def write(value: Any, folder: Path) -> None:
        text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
        (folder / name).write_bytes(
            f"{head}{text.replace(TWICE, '')}{head}".encode("utf-8", "surrogatepass")
        )

    return write


def parquet_frame(value: Any) -> pl.DataFrame:
    """Return rows as columns of one type each; in Parquet no key stands twice."""
    return pl.DataFrame(value if isinstance(value, list) else [value], strict=True)


def as_parquet(name: str) -> Callable[[Any, Path], None]:
    def write(value: Any, folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        try:
            if "[" * 20 in json.dumps(value):  # for which polars takes minutes
                raise Unwritten  # noqa: TRY301 - as below
            parquet_frame(value).write_parquet(folder / name)
        except Exception as error:  # no Parquet file can hold it
            raise Unwritten from error

    return write


class Unwritten(Exception):  # noqa: N818 - not an error of the tests
    """This kind of file cannot hold that structure."""


# --- pairs -----------------------------------------------------------------------------------

PAIRS = [
    {
        "context": f"What is number {number}?",
        "candidate_high": f"It is {number}.",
        "candidate_low": f'It is "{number + 1}", or so',
        "error_category": ["wrong", "rude"][number % 2],
        "note": {"by": ["me", "you"]},
        "weight": number / 2,
    }
    for number in range(4)
]


def filled(category: str | None) -> str | None:
    return category if category and category.strip() else None


def read_pairs(name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        rows = load_pairs(folder / name).pairs
        known = rows.select(pl.col(each) for each in NAMES if each in rows.columns)
        return [row | {NAMES[3]: filled(row.get(NAMES[3]))} for row in known.to_dicts()]

    return read


def plain_pairs(rows: object) -> Any:
    """Return the texts of each row; a candidate may be blank, and not missing."""
    found = []
    for row in objects(rows):
        category = row.get("error_category")
        if isinstance(category, int | float) and not isinstance(category, bool):
            number_of(category)
            category = repr(category)
        texts = {name: text_of(row.get(name), empty=row.get(name)) for name in NAMES[1:3]}
        if None in texts.values():
            raise Wrong
        texts["context"] = text_of(row.get("context"), empty="")
        texts["error_category"] = text_of(category, empty=None)
        found.append(texts)
    return found


def as_cells(plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Read what a file of cells holds of rows."""

    def of_cells(value: object) -> Any:
        header, *rows = cells_of(value)
        if len({*header}) < len(header) or not rows:
            raise Wrong
        rows = [[cell or None for cell in row] for row in rows if any(row)]
        return plain([dict(zip(header, row, strict=True)) for row in rows])

    return of_cells


# --- scores, references, rates ---------------------------------------------------------------

SCORES = [
    {"candidate_id": f"c{number}", "comet": number / 4 - 0.5, "bleu": 10.0 * number, "by": "me"}
    for number in range(4)
]
CANDIDATES = pl.DataFrame(
    {
        "split": "test",
        "context_id": [f"x{number}" for number in range(4)],
        "system": "s",
        "context": [f"context {number}" for number in range(4)],
        "candidate_id": [f"c{number}" for number in range(4)],
        "candidate": [f"text {number}" for number in range(4)],
    }
)


def read_scores(name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        found = read_values(folder / name, CANDIDATES).metrics
        return {
            metric: dict(found[metric].values.select("candidate_id", "score").rows())
            for metric in ("comet", "bleu")
            if metric in found
        }

    return read


def plain_scores(value: object) -> Any:
    """Values of known candidates; a metric is a column in which there is a number."""
    rows, found = objects(value), dict[str, dict[str, float]]()
    for row in rows:
        for metric in ("comet", "bleu"):
            number, candidate = number_of(row.get(metric)), row.get("candidate_id")
            if number is None or candidate not in CANDIDATES["candidate_id"].to_list():
                continue
            values = found.setdefault(metric, {})
            if values.setdefault(str(candidate), number) != number:
                raise Wrong
    return found


REFERENCES = [
    {"context_id": f"x{number // 2}", "reference": f"reference {number}", "by": {"me": 1}}
    for number in range(4)
]


def plain_references(value: object) -> Any:
    found = dict[str, list[str]]()
    for row in objects(value):
        context, reference = row.get("context_id"), row.get("reference")
        if reference is not None:
            text_of(reference, empty="")
            found.setdefault(text_of(context, empty=context or Wrong), []).append(reference)
    if not found:
        raise Wrong
    return {context: sorted({*texts}) for context, texts in found.items()}


def shown_references(folder: Path) -> Any:
    rows = read_references(folder / "references.jsonl")
    return {context: sorted({*texts}) for context, texts in rows.rows()}


RATES = [
    {"model": model, "category": "overall", "pass_rate": rate, "n": 8}
    for model, rate in {"a": 0.5, "b": 0.75, "c": 1.0}.items()
]


RATE_NAMES = ("model", "category", "pass_rate")


def plain_rates(value: object) -> Any:
    rows = [
        (row.get("model"), row.get("category"), number_of(row.get("pass_rate")))
        for row in objects(value, in_lines=False)
    ]
    if not all(isinstance(name, str) for row in rows for name in row[:2]):
        raise Wrong
    if any(rate is not None and not 0 <= rate <= 1 for _, _, rate in rows):
        raise Wrong
    return rows


# --- samples of a harness --------------------------------------------------------------------

SAMPLES = [
    {
        "doc_id": number,
        "doc": {"UID": ["agree", "number"][number % 2]},
        "target": str(number % 2),
        "arguments": {
            f"gen_args_{side}": {"arg_0": f"Context {number}.", "arg_1": f" text {number} {side}"}
            for side in range(2)
        },
        "resps": [[[str(-1.5 - number), "False"]], [[-2.25, "True"]]],
        "filtered_resps": [["-1.5", "False"]],
        "acc": float(number % 2 == 0) if number == 0 else float(number % 2),
    }
    for number in range(3)
]
RESULTS = {
    "results": {"blimp": {"acc,none": 0.5}},
    "configs": {"blimp": {"target_delimiter": " ", "metadata": {"version": 1}}},
    "n-samples": {"blimp": {"original": 3, "effective": 3}},
    "model_name": MODEL,
    "lm_eval_version": "0.4.9",
    "chat_template_sha": None,
}
DATE = "2026-01-01T00-00-00.000000"


def shown_samples(folder: Path) -> Any:
    [file] = read_files([folder / f"samples_blimp_{DATE}.jsonl"], MODEL)
    return [
        (
            found.pair["context"],
            found.pair["candidate_high"],
            found.pair["candidate_low"],
            *found.sums,
        )
        for found in read_samples(file)
    ]


def plain_samples(value: object) -> Any:
    found = dict[str, Any]()
    for row in objects(value):
        arguments = [*row["arguments"].values()] if isinstance(row.get("arguments"), dict) else []
        answers = row.get("resps")
        if len(arguments) != 2 or not isinstance(answers, list) or len(answers) != 2:
            raise Wrong
        try:
            texts = [[*each.values()] for each in arguments]
            sums = [number_of(each[0][0]) for each in answers]
            (first, a), (second, b) = texts
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            raise Wrong from error
        found[str(row.get("doc_id"))] = (first, a, second, b, sums, row.get("target"))
        if any(total is None or total > 0.01 for total in sums):
            raise Wrong
        if not all(isinstance(each, str) for each in (first, a, second, b)):
            raise Wrong
    return [*found.values()]


def plain_results(value: object) -> Any:
    """Return what the samples say, in which the results name what stands before each choice."""
    if not isinstance(value, dict):
        raise Wrong
    check(value)
    settings: Any = value
    for key in ("configs", "blimp"):
        settings = settings.get(key) if isinstance(settings.get(key), dict) else {}
    is_chat = value.get("chat_template_sha") and not settings.get("gen_prefix")
    return plain_verdicts(SAMPLES, "" if is_chat else str(settings.get("target_delimiter", " ")))


def plain_verdicts(samples: object, delimiter: str = " ") -> Any:
    """Return context, better and worse text and their sums, by target and order alone."""
    rows = []
    for first, a, second, b, sums, target in plain_samples(samples):
        texts = [a.removeprefix(delimiter), b.removeprefix(delimiter)]
        context = first if first == second else ""
        if first != second:
            texts = [first + a, second + b]
        named = str(target).strip()
        places = {int(named)} if named in ("0", "1") else set()
        if isinstance(target, str):
            places |= {place for place, text in enumerate((a, b)) if text.strip() == named}
        if len(places) != 1:
            raise Wrong
        [high] = places
        rows.append((context, texts[high], texts[1 - high], sums[high], sums[1 - high]))
    return rows


def write_results(value: object, folder: Path) -> None:
    as_jsonl(f"samples_blimp_{DATE}.jsonl")(SAMPLES, folder)
    as_json(f"results_{DATE}.json")(value, folder)


# --- cards, lists, costs ---------------------------------------------------------------------

CARD = {
    "license": "mit",
    "pretty_name": "Birds: of the sea",
    "tags": ["a", "b"],
    "configs": [
        {
            "config_name": "default",
            "data_files": [
                {"split": "train", "path": "data/train.csv"},
                {"split": "test", "path": ["data/test.csv"]},
            ],
        }
    ],
}


def write_card(value: object, folder: Path) -> None:
    (folder / "data").mkdir(exist_ok=True)
    for name in ("train", "test", "other"):
        (folder / "data" / f"{name}.csv").write_text("context\na\n")
    as_yaml("README.md", "---\n")(value, folder)


def shown_card(folder: Path) -> Any:
    splits = hub_files(folder, "o/birds").splits
    return {
        str(split): sorted(Path(path).relative_to(folder.resolve()).as_posix() for path in files)
        for split, files in splits.items()
    }


def plain_card(value: object) -> Any:
    """Return the files that the card names, whatever else it says."""
    if not isinstance(value, dict):
        raise Wrong
    configs = value.get("configs")
    if not configs:
        return {"train": ["data/train.csv"], "test": ["data/test.csv"]}
    if not isinstance(configs, list) or not isinstance(configs[0], dict) or len(configs) > 1:
        raise Wrong
    [config] = configs
    if not config.get("data_files"):
        return {"train": ["data/train.csv"], "test": ["data/test.csv"]}
    if not isinstance(config["data_files"], list):
        raise Wrong
    found = dict[str, list[str]]()
    for each in config["data_files"]:
        try:
            path = each["path"]
            paths = [path] if isinstance(path, str) else path
            found[text_of(each["split"])] = sorted({*paths})
        except (TypeError, LookupError) as error:
            raise Wrong from error
    return found


LIST = [
    {"model": "org/a", "data": "sample", "protocol": "native"},
    {"model": "org/b", "data": ["sample", "quiz_design"], "system": "heron", "dtype": "float32"},
]


def shown_list(folder: Path) -> Any:
    document, manner = read_yaml(folder / "runs.yaml"), {"scoring": Scoring(), "loading": Loading()}
    return [
        (each.model.removeprefix(f"{folder}/"), [*each.data], each.scoring.protocol, each.system)
        for each in read_entries(document, folder, str, **manner)
    ]


def plain_list(value: object) -> Any:
    if not isinstance(value, list) or not value:
        raise Wrong
    rows = []
    for each in value:
        if not isinstance(each, dict):
            raise Wrong
        data = each.get("data")
        data = [data] if isinstance(data, str) else data
        if not isinstance(data, list) or not data:
            raise Wrong
        if not all(isinstance(name, str) for name in (each.get("model"), *data)):
            raise Wrong
        rows.append((each["model"], data, each.get("protocol", "native"), each.get("system")))
    return rows


COSTS = {
    "models": [
        {
            "model": "a",
            **dict.fromkeys(("loading_seconds", "proof_seconds", "baseline_seconds"), 0.5),
            "scoring_seconds": 1.5,
            "tokens": 10,
            "requests": 4,
            "stored": 1,
            "peak_bytes": 1000,
        }
    ]
}


def shown_costs(folder: Path) -> Any:
    found: dict[str, ModelCost] = read_costs(folder / "cost.json")
    return {name: (cost.tokens, cost.scoring_seconds) for name, cost in found.items()}


def plain_costs(value: object) -> Any:
    """Return the costs; a file that cannot be read has none, and a number that is missing is 0."""
    try:
        check(value)
        return {
            each["model"]: (each.get("tokens", 0), each.get("scoring_seconds", 0.0))
            for each in value["models"]  # type: ignore[index]
        }
    except (Wrong, TypeError, AttributeError, LookupError):
        return {}


# --- source.yaml -----------------------------------------------------------------------------

EDITED = [
    ["article", "summary", "edited", "error"],
    ["The ferry was late again.", "The ferry was late.", "The train was late.", "entity"],
    ["A school sells honey.", "A school sells honey.", "A school bought honey.", "predicate"],
]
SOURCE = {
    "name": "shapes",
    "pretty_name": "Shapes: of tables",
    "task": "summarisation",
    "languages": ["en"],
    "licence": "CC0-1.0",
    "redistribution": "allowed",
    "split": "one split, `test`",
    "notes": [],
    "citation": "@misc{shapes, title = {Shapes}}",
    "homepage": None,
    "files": [{"name": "edited.csv", "url": None, "sha256": None, "bytes": None}],
    "aspects": {"faithfulness": "Does it say only what the article says?"},
    "quality": {"rule": "no_error", "no_error": "better"},
    "taxonomy": {
        name: {"name": name.title(), "group": None, "description": "It says something else."}
        for name in ("entity", "predicate")
    },
    "systems": {"*": None},
    "expected": None,
    "table": {
        "inputs": {"article": "article"},
        "where": "summary <> edited",
        "pairs": {"high": "summary", "low": "edited", "category": "error"},
    },
}
DECIDING = ("files", "quality", "taxonomy", "table")


class SomeOf(frozenset[Any]):
    """Equal to each of its subsets."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, frozenset) and frozenset(other) <= frozenset(self)

    __hash__ = frozenset.__hash__


def write_source(value: object, folder: Path) -> None:
    place = folder / "shapes"
    place.mkdir(exist_ok=True)
    (place / "edited.csv").write_text("".join(",".join(row) + "\n" for row in EDITED))
    as_yaml("source.yaml")(value, place)


def shown_source(folder: Path) -> Any:
    convert(folder / "shapes", out=folder / "out")
    rows = load_pairs(folder / "out").pairs
    return frozenset(rows.select("context", "candidate_high", "candidate_low").rows())


def plain_source(value: object) -> Any:
    """Return the rows as pairs, or, where another rule or column is named, some of their texts."""
    if not isinstance(value, dict):
        raise Wrong
    _, *rows = EDITED
    if all(value.get(key) == SOURCE[key] for key in DECIDING):
        return frozenset((article, summary, edited) for article, summary, edited, _ in rows)
    return SomeOf((a, b, c) for row in rows for a in row for b in row for c in row if b != c)


DOORS = {
    "source.yaml": Door(SOURCE, write_source, shown_source, plain_source),
    "pairs.jsonl": Door(PAIRS, as_jsonl("p.jsonl"), read_pairs("p.jsonl"), plain_pairs),
    "pairs.csv": Door(PAIRS, as_csv("p.csv"), read_pairs("p.csv"), as_cells(plain_pairs)),
    "pairs.parquet": Door(
        PAIRS,
        as_parquet("p.parquet"),
        read_pairs("p.parquet"),
        lambda value: plain_pairs(
            [{name: row.get(name) for name in NAMES} for row in parquet_frame(value).to_dicts()]
        ),
    ),
    "scores.jsonl": Door(SCORES, as_jsonl("s.jsonl"), read_scores("s.jsonl"), plain_scores),
    "scores.csv": Door(SCORES, as_csv("s.csv"), read_scores("s.csv"), as_cells(plain_scores)),
    "references": Door(
        REFERENCES, as_jsonl("references.jsonl"), shown_references, plain_references
    ),
    "rates": Door(
        RATES,
        as_json("rates.json"),
        lambda folder: read_pass_rates(folder / "rates.json").select(RATE_NAMES).rows(),
        plain_rates,
    ),
    "samples": Door(
        SAMPLES, as_jsonl(f"samples_blimp_{DATE}.jsonl"), shown_samples, plain_verdicts
    ),
    "results": Door(RESULTS, write_results, shown_samples, plain_results),
    "card": Door(CARD, write_card, shown_card, plain_card),
    "runs.yaml": Door(LIST, as_yaml("runs.yaml"), shown_list, plain_list),
    "cost.json": Door(COSTS, as_json("cost.json"), shown_costs, plain_costs),
}
