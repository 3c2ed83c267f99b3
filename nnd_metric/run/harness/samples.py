"""Logged samples of lm-evaluation-harness, read from its files (tested with 0.4.13).

It writes samples_TASK_DATE.jsonl, a sample on each line, and results_DATE.json beside them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nnd.metric.data import CATEGORY_COLUMNS, read_table
from nnd.metric.run.harness.choices import (
    Document,
    add_document,
    check_complete,
    read_choices,
)
from nnd.metric.run.harness.verdicts import VERDICTS, find_better
from nnd.schemas import ScoringError, SourceError, excerpt, read_json

_FILE = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_NEEDED = ("doc", "target", "arguments", "resps")
_READ = (*_NEEDED, "doc_id", *VERDICTS)
_AS_IT_IS = "run the exported task as it is"
_EXPORTED = (
    *("pair_id", "split", "context", "context_id", "high_id", "low_id", "cluster"),
    *("aspect", "category", "error_category", "error_group", "origin"),
)
"""Columns that `nnd export` writes into tasks."""


class SampleFile(NamedTuple):
    """A file of samples, its task, and what the results beside it say (nothing without them)."""

    path: Path
    task: str
    results: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The configuration of the task."""
        return as_object(as_object(self.results.get("configs")).get(self.task))

    @property
    def delimiter(self) -> str:
        """What the harness puts between a context and a choice: nothing behind a rendered chat."""
        prefix = str(self.settings.get("gen_prefix") or "")
        if self.results.get("chat_template_sha") and (not prefix or prefix[-1].isspace()):
            return ""
        return str(self.settings.get("target_delimiter", " "))

    @property
    def documents(self) -> int | None:
        """How many documents of the task were scored, or None if that is unknown."""
        counts = as_object(as_object(self.results.get("n-samples")).get(self.task))
        n = counts.get("effective")
        return n if isinstance(n, int) else None

    @property
    def exported(self) -> Mapping[str, Any]:
        """What `nnd export` wrote about the task: data, template."""
        metadata = as_object(self.settings.get("metadata"))
        return metadata if "nnd_version" in metadata else {}

    @property
    def model(self) -> tuple[str, str, str | None]:
        """The model, the version of the harness, and the digest of the chat template or None."""
        facts = self.results
        digest, name = facts.get("chat_template_sha"), facts.get("model_name")
        version = facts.get("lm_eval_version", "unknown")
        return str(name or ""), str(version), str(digest)[:8] if digest else None


def as_object(value: object) -> Mapping[str, Any]:
    """Return an object of a results file; an empty one for anything else, as for null."""
    return value if isinstance(value, Mapping) else {}


class Sample(NamedTuple):
    """A test as the harness scored it.

    Attributes:
        pair: The pair.
        sums: The summed log-probabilities of the better and the worse text, in nats.
        sizes: The bytes of these texts without the delimiter. They are those of the candidates,
            unless the choices differ in their contexts.
        where: Its place in the file.
    """

    pair: dict[str, Any]
    sums: tuple[float, float]
    sizes: tuple[int, int]
    where: str


def read_files(places: Sequence[Path], model: str | None) -> list[SampleFile]:
    """Return the files, which must be of one model, read in one way, and of a task each."""
    files: dict[str, SampleFile] = {}
    for path in places:
        named = _FILE.fullmatch(path.name)
        task = named["task"] if named else path.stem
        if task in files:
            raise ScoringError(
                "samples.mixed", f"the samples of {task} are also in {files[task].path}", path
            )
        results = path.with_name(f"results_{named['date']}.json") if named else None
        facts = _read_results(results) if results is not None and results.is_file() else {}
        files[task] = file = SampleFile(path, task, facts)
        if not (file.model[0] or model):
            raise ScoringError(
                "option.needs-another",
                "results_DATE.json is not beside it, so the model is unknown",
                path,
                "name it with --model",
            )
    if not files:
        raise ScoringError(
            "input.missing",
            "no files of samples",
            remedy="name some, such as logs/*/samples_*.jsonl",
        )
    first, *others = files.values()
    for other in others:
        if other.model != first.model or other.exported.get("data") != first.exported.get("data"):
            raise ScoringError(
                "samples.mixed",
                f"{other.path} and {first.path} differ in model, harness, chat template or data",
                remedy="import each run into a folder of its own",
            )
    return [*files.values()]


def _read_results(path: Path) -> dict[str, Any]:
    try:
        facts = read_json(path)
    except SourceError as error:
        raise error.inside("", ScoringError) from error
    if not isinstance(facts, dict):
        raise ScoringError("samples.not-samples", "not the results of lm-evaluation-harness", path)
    return facts


def read_samples(file: SampleFile) -> Iterator[Sample]:
    """Yield the tests of a file; a mistake in it is an error that names the line."""
    table = read_table(file.path)
    missing = [name for name in _NEEDED if name not in table.columns]
    if missing:
        raise ScoringError("samples.not-samples", f"{missing[0]} is missing", file.path)
    columns = {name: table.columns[name] for name in _READ if name in table.columns}
    seen: dict[int, Document] = {}
    for number, values in enumerate(zip(*columns.values(), strict=True)):
        line, where = dict(zip(columns, values, strict=True)), table.where(number)
        doc = line["doc"]
        if not isinstance(doc, Mapping):
            raise ScoringError("samples.not-samples", "doc is not an object", where)
        texts, sums = read_choices(line["arguments"], line["resps"], where)
        if "doc_id" in line:
            add_document(seen, line["doc_id"], Document(texts, sums, where))
        if _is_exported(doc):
            _check_exported(doc, line["target"], texts, where)
        cut = [(context, text.removeprefix(file.delimiter)) for context, text in texts]
        high = find_better(
            line["target"],
            [text for _, text in cut],
            sums,
            {name: line[name] for name in VERDICTS if line.get(name) is not None},
            same_context=texts[0][0] == texts[1][0],
            where=where,
        )
        sizes = [len(text.encode()) for _, text in cut]
        yield Sample(
            _pair(doc, texts, cut, high, file),
            (sums[high], sums[1 - high]),
            (sizes[high], sizes[1 - high]),
            where,
        )
    if "doc_id" in columns:
        check_complete(len(seen), file.documents, file.path)


def _is_exported(doc: Mapping[str, Any]) -> bool:
    """Whether a sample is of a task that `nnd export` wrote."""
    return "pair_id" in doc and "choices" in doc


def _check_exported(
    doc: Mapping[str, Any], target: object, texts: Sequence[tuple[str, str]], where: str
) -> None:
    choices = doc["choices"]
    if (
        not isinstance(choices, list)
        or len(choices) != len(texts)
        or not all(isinstance(choice, str) for choice in choices)
    ):
        raise ScoringError(
            "samples.not-samples", "choices is not a list of two texts", where, _AS_IT_IS
        )
    in_order = all(text.endswith(choice) for (_, text), choice in zip(texts, choices, strict=True))
    if str(target) != "1" or not in_order:
        raise ScoringError(
            "samples.not-samples",
            f"the choices of pair {excerpt(str(doc['pair_id']))} are not in the order that `nnd "
            "export` wrote, worse and better",
            where,
            _AS_IT_IS,
        )


def _pair(
    doc: Mapping[str, Any],
    texts: Sequence[tuple[str, str]],
    cut: Sequence[tuple[str, str]],
    high: int,
    file: SampleFile,
) -> dict[str, Any]:
    """Return the pair of a sample: that of an exported task, or one made of what was read.

    `texts` are the context and the text of each choice, and `cut` the same without the delimiter.
    """
    if _is_exported(doc):
        low_text, high_text = doc["choices"]
        own = {name: doc[name] for name in _EXPORTED if name in doc}
        return own | {"candidate_high": high_text, "candidate_low": low_text}
    contexts = [context for context, _ in texts]
    is_one = contexts[0] == contexts[1]
    candidates = [text for _, text in cut] if is_one else [*map("".join, texts)]
    named = (doc[name] for name in CATEGORY_COLUMNS if isinstance(doc.get(name), str))
    return {
        "context": contexts[0] if is_one else "",
        "candidate_high": candidates[high],
        "candidate_low": candidates[1 - high],
        "error_category": next(named, file.task),
    }
