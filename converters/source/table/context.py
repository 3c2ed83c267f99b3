"""What a row says of its context and of a candidate."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nnd.converters import Annotation
from nnd.converters.source.table.cells import Row
from nnd.converters.source.table.section import Table, template_of


class Candidate(NamedTuple):
    """A candidate as a row has it; fields as in an annotation."""

    candidate_id: str
    candidate: str
    system: str | None


class Context(NamedTuple):
    """A context as a row has it; fields as in an annotation."""

    context_id: str
    context: str
    inputs: Mapping[str, str]
    category: str | None
    split: str
    language: str | None
    metadata: Mapping[str, str]

    def annotate(
        self,
        where: str,
        candidate: Candidate,
        **judgement: Any,  # noqa: ANN401 - the other fields of an annotation
    ) -> Annotation:
        """Return an annotation of one of its candidates."""
        return Annotation(where=where, **self._asdict(), **candidate._asdict(), **judgement)


def read_context(row: Row, table: Table) -> Context:
    """Return the context of a row; without a key of its own, a digest of its inputs is the key."""
    columns = table.get("columns", {})
    inputs = {part: row.text(column) for part, column in table["inputs"].items()}
    has_key = "context_id" in columns
    return Context(
        context_id=row.text(columns["context_id"]) if has_key else digest(inputs.values()),
        context=template_of(table).format(**inputs),
        inputs=inputs,
        category=(row.filled(columns["category"]) or None) if "category" in columns else None,
        split=row.filled(columns["split"]) if "split" in columns else "test",
        language=(row.filled(columns["language"]) or None) if "language" in columns else None,
        metadata={key: row.filled(column) for key, column in table.get("metadata", {}).items()},
    )


def read_candidate(
    row: Row, columns: Mapping[str, str], context_id: str, own_id: str | None = None
) -> Candidate:
    """Return a candidate of a row.

    Args:
        row: The row.
        columns: Columns of `candidate`, `system` and `candidate_id`; the last two may be missing.
        context_id: The key of its context.
        own_id: The candidate's key where the row gives one in another way.

    Returns:
        The candidate. Without a key of its own, it goes by the context's key, a slash, and the
        system, or a digest of the text where no system is named.
    """
    text = row.text(columns["candidate"])
    system = row.text(columns["system"]) if "system" in columns else None
    if "candidate_id" in columns:
        own_id = row.text(columns["candidate_id"])
    if own_id is None:
        own_id = f"{context_id}/{digest([text]) if system is None else system}"
    return Candidate(own_id, text, system)


def digest(texts: Iterable[str]) -> str:
    """Return a key for what has none: what it says, each text with its length."""
    parts = [text.encode(errors="surrogatepass") for text in texts]  # surrogates are refused later
    return hashlib.sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).hexdigest()[:16]
