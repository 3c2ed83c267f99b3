"""FRANK: factual errors in news summaries (Pagnoni et al. 2021).

Not a `table`: a summary's label is the commonest one of its sentences, its text may be in another
file, and so may its split.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nnd.converters import Annotation, Files, Record, Reference, SourceError
from nnd.schemas import read_text

SUMMARIES = "human_annotations.json"  # one number per summary; the main file has sentence labels
TEXTS = "benchmark_data.json"
SPLITS = {"test": "test_split.txt", "valid": "validation_split.txt"}

NO_ERROR = "NoE"
OTHER = "OtherE"  # an error outside of the typology
LABELS = {NO_ERROR, OTHER, "RelE", "EntE", "CircE", "CorefE", "LinkE", "OutE", "GramE"}
CLEAN_VOTES = 2  # of three annotators
CNNDM_HASH = 40  # hex digits; XSum, which the files call bbc, has 8

TYPED = "typed"  # a set
TYPES = ("RelE", "EntE", "CircE", "CorefE", "LinkE", "OutE", "GramE")
ANY_TYPE = "Other"  # the column that no other one of a row is above
UNTYPED_ERROR = "untyped"
TOLERANCE = 1e-6  # a share of sentences has nine decimals

NO_TEXT = "summaries of {} left out, as neither file has their texts: {}"
NO_SPLIT = "summaries of {} that state no split and count as test: {}"
UNTYPED = "summaries of {} kept without a label, as theirs is OtherE, not of the typology: {}"


class SummaryText(NamedTuple):
    """What a row says, in the annotation file or in the file of texts."""

    where: str
    article: str
    summary: str
    reference: str | None


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield the labels of every summary: by its sentences, its `Factuality` or its types of error.

    By types of error there may be several, an annotation each.
    """
    main = files.source.files[0].name
    rows = list(files.json(main))
    texts, splits = read_texts(files, rows), read_splits(files, rows)
    odd: Counter[tuple[str, str]] = Counter()
    for row in rows:
        article_id, system = row.identifier("hash"), row.text("model_name")
        dataset = row.optional_text("dataset")
        dataset = dataset or ("cnndm" if len(article_id) == CNNDM_HASH else "bbc")
        if (article_id, system) not in texts:
            odd[NO_TEXT, dataset] += 1
            continue
        text = texts[article_id, system]
        split = row.optional_text("split") or splits.get(article_id)
        score = row.number("Factuality") if main == SUMMARIES else None
        labels = labels_of(row, files.source.facts.get("set"))
        odd[NO_SPLIT, dataset] += split is None
        odd[UNTYPED, dataset] += OTHER in labels
        for label in labels:
            yield Annotation(
                where=row.where,
                context_id=article_id,
                context=text.article,
                inputs={"article": text.article},
                category=dataset,
                candidate_id=f"{article_id}/{system}",
                candidate=text.summary,
                system=system,
                aspect="factuality",
                label=None if label == OTHER else label,
                score=score,
                split=split or "test",
            )
    for (message, dataset), n in odd.items():
        if n:
            files.report(main, message.format(dataset, n))


def references(files: Files) -> Iterator[Reference]:
    """Yield the highlights of every article, where the file of texts has them."""
    rows = list(files.json(files.source.files[0].name))
    texts, splits = read_texts(files, rows), read_splits(files, rows)
    for row in rows:
        article_id = row.identifier("hash")
        text = texts.get((article_id, row.text("model_name")))
        if text is not None and text.reference is not None:
            yield Reference(
                where=text.where,
                context_id=article_id,
                reference=text.reference,
                split=row.optional_text("split") or splits.get(article_id) or "test",
            )


def labels_of(row: Record, set_name: str | None) -> list[str | None]:
    """Return the labels of a summary: one, or several types of error.

    A column is the share of sentences that are free of its error. A sentence on whose type of error
    the annotators do not agree lowers every column, `Other` with them, so that the types of a
    summary are the columns below `Other`.
    """
    if set_name is None:
        return [label_of(row)]
    if row.number("Factuality") >= 1:
        return ["no_error"]
    if set_name != TYPED:
        return ["not_factual"]
    types = [name for name in TYPES if row.number(name) < row.number(ANY_TYPE) - TOLERANCE]
    return [*types] or [UNTYPED_ERROR]


def label_of(row: Record) -> str | None:
    """Return a summary's label: no error if all its sentences are clean, else its commonest error.

    A sentence is clean if two of its labels say so. Of errors equally common the one first seen
    counts, annotator by annotator; a summary that has neither is without a label.
    """
    votes: dict[str, list[str]] = {}
    clean = []
    for sentence in row.records("summary_sentences_annotations"):
        labels = {annotator: read_labels(sentence, annotator) for annotator in sentence.fields}
        clean.append(sum(found.count(NO_ERROR) for found in labels.values()) >= CLEAN_VOTES)
        for annotator, found in labels.items():
            votes.setdefault(annotator, []).extend(found)
    if clean and all(clean):
        return NO_ERROR
    errors = [label for found in votes.values() for label in found if label != NO_ERROR]
    return Counter(errors).most_common(1)[0][0] if errors else None


def read_labels(sentence: Record, annotator: str) -> list[str]:
    """Return the labels that an annotator gave a sentence: one, or several errors."""
    labels = sentence.texts(annotator)
    for label in labels:
        if label not in LABELS:
            raise SourceError(
                "cell.unknown-value",
                f'label "{label}" is not known; known: {", ".join(sorted(LABELS))}',
                f"{sentence.where}, {annotator}",
                "add it to convert.py if it is new",
            )
    return labels


def read_texts(files: Files, rows: list[Record]) -> Mapping[tuple[str, str], SummaryText]:
    """Return the texts by (hash, model name), from the rows, else from the file of texts."""
    places: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row.identifier("hash"), row.text("model_name"))
        if key in places:
            raise SourceError(
                "row.twice", f"the same hash and model_name as {places[key]}", row.where
            )
        places[key] = row.where
    own = [row for row in rows if {"article", "summary"} <= row.fields.keys()]
    others = files.json(TEXTS) if len(own) < len(rows) else ()
    texts: dict[tuple[str, str], SummaryText] = {}
    for row in (*own, *others):
        key = (row.identifier("hash"), row.text("model_name"))
        found = (row.where, row.text("article"), row.text("summary"))
        texts.setdefault(key, SummaryText(*found, row.optional_text("reference")))
    return texts


def read_splits(files: Files, rows: list[Record]) -> Mapping[str, str]:
    """Return the split of each article by hash, where rows do not state it and there are files."""
    if all("split" in row.fields for row in rows):
        return {}
    return {
        article_id: split
        for split, name in SPLITS.items()
        if files.origin is None or files.has(name)
        for article_id in read_text(files.path(name)).split()
    }
