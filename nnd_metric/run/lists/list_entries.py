"""The entries of a list of runs (`runs.schema.json`)."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from nnd.metric.likelihood import Loading, Scoring, split_revision
from nnd.metric.numbers import PublishedPasses
from nnd.metric.text import AUTO, NONE
from nnd.schemas import (
    NNDError,
    SchemaName,
    ScoringError,
    check_known,
    check_rows,
    load_schema,
)

_SCORING: Final = ("protocol", "template", "keep", "language", "context_language")

Where: TypeAlias = Callable[[Sequence[int | str]], str]
"""Returns FILE:LINE of a place in a document, given its keys and indices from the top."""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A model, the data that it scores, and how.

    Attributes:
        where: FILE:LINE of the entry, for messages.
        model: Hub id, NAME@REVISION, or folder.
        data: Paths, Hub ids and names of built-in sources.
        scoring: Scoring options.
        loading: Loading options.
        system: The system that the model stands for, or None.
        splits: The splits to score (`evaluate`); empty means the default.
        columns: Columns of a table of one's own (`evaluate`), or None.
        cluster: The column of a table of one's own whose values belong together, or None.
        published: What others published for the model on the data, or None.
        elements: What of a paper the entry repeats, as the paper calls it: Table 2, Figure 3.
        unavailable: Why the model cannot be loaded, if the entry only states what was published.
        download: Size in GB of the model's weights, or None if the list does not state it.
    """

    where: str
    model: str
    data: tuple[str, ...]
    scoring: Scoring
    loading: Loading
    system: str | None = None
    splits: tuple[str, ...] = ()
    columns: Mapping[str, str] | None = None
    cluster: str | None = None
    published: PublishedPasses | None = None
    elements: tuple[str, ...] = ()
    unavailable: str | None = None
    download: float | None = None

    def named(self) -> AbstractContextManager[None]:
        """Begin the message of an error with the line of the entry."""
        return errors_at(self.where)

    @property
    def manner(self) -> str:
        """The scoring options as the name of a folder: `native`, `laban2022+mixqg`.

        It has the protocol and all options that are not the default: the template, the kept part of
        contexts, the chat options and the splits. A user's text or file is represented by its
        digest.
        """
        parts = [self.scoring.protocol]
        template, chat = self.scoring.template, self.scoring.chat
        if template is not None:
            is_own = "{" in template
            parts.append(f"template-{_digest(template)}" if is_own else template)
        if self.scoring.keep is not None:
            parts.append(f"keep-{self.scoring.keep}")
        for name in ("language", "context_language"):
            if (language := getattr(self.scoring, name)) is not None:
                plain = re.fullmatch(r"[\w.-]+", language) is not None
                parts.append(f"{name}-{language if plain else _digest(language)}")
        if chat.template != AUTO:
            parts.append(f"chat-{chat.stored().template}")
        if chat.system is not None:
            parts.append(f"system-{_digest(chat.system)}")
        for split in self.splits:
            is_plain = re.fullmatch(r"[\w.-]+", split) is not None
            parts.append(f"split-{split if is_plain else _digest(split)}")
        return "+".join(parts)


@contextmanager
def errors_at(where: str) -> Iterator[None]:
    """Begin the message of an error with the line of an entry."""
    try:
        yield
    except NNDError as error:
        raise error.inside(where, ScoringError) from error


def read_entries(
    document: Any,  # noqa: ANN401 - whatever a file holds
    folder: Path,
    where: Where,
    *,
    scoring: Scoring,
    loading: Loading,
) -> list[RunEntry]:
    """Return the entries of a list of runs, checked without reading models or data."""
    if not isinstance(document, list) or not document:
        raise ScoringError("runs.not-a-list", "not a list of runs", where([]))
    check_listed("runs", document, where)
    entries = []
    for number, values in enumerate(document):
        entry = _entry(values, folder, where([number]), scoring, loading)
        with entry.named():
            entry.scoring.check()
        entries.append(entry)
    return entries


def check_listed(schema: SchemaName, document: Sequence[Any], where: Where) -> None:
    """Check the entries of a list, which are rows of a schema."""
    known = load_schema(schema)["properties"]
    for number, entry in enumerate(document):
        for key in entry if isinstance(entry, dict) else ():
            place = where([number, key])
            check_known("key", [str(key)], known, place, code="key.unknown", family=ScoringError)
    for problem in check_rows(schema, document):
        place = where([int(problem.row or 0), *filter(None, problem.path.split("/"))])
        at = ": ".join(filter(None, (place, problem.path)))
        raise ScoringError("runs.entry", problem.message, at, problem.remedy)


def _entry(
    values: Mapping[str, Any], folder: Path, where: str, scoring: Scoring, loading: Loading
) -> RunEntry:
    model, revision = located(values["model"], folder), values.get("revision")
    if revision is not None:
        if split_revision(model)[1] is not None:
            raise ScoringError(
                "option.conflict",
                f'the model "{model}" names a revision, and so does `revision`',
                where,
                "keep one",
            )
        if Path(model).exists():
            raise ScoringError(
                "option.conflict",
                f"{model} is a local folder, and folders have no revisions",
                where,
                "leave out `revision`",
            )
        model = f"{model}@{revision}"
    if "adapter" in values:
        loading = replace(loading, adapter=located(values["adapter"], folder))
    chat, template = scoring.chat, values.get("chat_template")
    if template is not None:
        named = template in (AUTO, NONE)
        chat = replace(chat, template=template if named else located(template, folder))
    if "system_prompt" in values:
        chat = replace(chat, system=values["system_prompt"])
    data, splits, elements = (
        (value,) if isinstance(value, str) else tuple(value)
        for value in (values["data"], values.get("split", ()), values.get("element", ()))
    )
    return RunEntry(
        where,
        model,
        tuple(located(name, folder) for name in data),
        replace(scoring, chat=chat, **_given(values, *_SCORING)),
        replace(loading, **_given(values, "dtype", "quantise")),
        values.get("system"),
        splits,
        values.get("columns"),
        values.get("cluster"),
        PublishedPasses.from_dict(values["published"]) if "published" in values else None,
        elements,
        values.get("unavailable"),
        values.get("download"),
    )


def _given(values: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: values[key] for key in keys if key in values}


def located(name: str, folder: Path) -> str:
    """Resolve a path relative to the file; return any other name unchanged."""
    path = folder / name
    return str(path) if path.exists() or name.startswith((".", "/")) else name


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
