"""Read pairs and human scores from a folder, a file, the Hub, or a table in memory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.data.any_frames import PairData, name_of, to_dataset, to_frame
from nnd.metric.data.completion import (
    OPTIONAL,
    complete_pairs,
    has_contexts,
    sum_digests,
    version_of,
)
from nnd.metric.data.converted_folder import (
    SuiteSet,
    cluster_in,
    instruction_in,
    read_sets,
)
from nnd.metric.data.data_places import DataPlace, find_place
from nnd.metric.data.human_scores import HUMAN_SCORES, read_scores_in
from nnd.metric.data.judgements import Judgements, find_judgements
from nnd.metric.data.known_columns import OwnTable, columns_read, frame_of_table
from nnd.metric.data.own_tables import (
    HUB_FILES,
    read_hub_dataset,
    read_table,
    tables_in,
)
from nnd.metric.data.remote import is_url
from nnd.metric.data.splits import describe_splits
from nnd.schemas import (
    CONTEXT,
    MANIFEST,
    Instruction,
    Printable,
    ScoringError,
    check_not_forked,
    counted,
    find_frame,
    frame_files,
    have_equal_texts,
    text_table,
)

if TYPE_CHECKING:
    import datasets
    from rich.table import Table as RichTable

WITH_EQUAL_TEXTS = "with two equal texts"
NEEDED = ("pairs.parquet", "pairs/*.parquet", "sets/*.parquet", HUMAN_SCORES, "manifest.json")
"""Patterns of the files to download from the Hub; * also matches folders."""


@dataclass(frozen=True, slots=True, repr=False)
class PairSet(Printable):
    """Pairs ready to be scored.

    Attributes:
        pairs: One row per pair with pair_id, split, context_id, cluster (null: context_id),
            context, inputs, high_id, low_id, candidate_high, candidate_low, aspect, category,
            error_category, error_group, origin.
        human_scores: The human scores that come with them, or None.
        name: Name of the data in the signature.
        version: Hub commit, or the sum of the SHA-256 of all rows, which does not depend on their
            order.
        part: The part of the data that was chosen, as (option, value) pairs (`choose_part`).
        sets: The sets of a suite, whose pairs have the same columns.
        splits: The chosen splits (`choose_splits`); empty before the choice, and if pairs have no
            splits.
        home: The folder, or ORG/name@commit on the Hub, that the human scores come with, or None.
        equal: The split of each pair of one's own that was dropped, because both candidates are the
            same text.
        n_whole: Number of tests of the chosen splits that the part was chosen from; None for all.
        instruction: What people asked the systems to do, or None if the data does not say.
        has_contexts: Whether any context is more than an empty text.
        cluster: What contexts may share, in a word, such as paragraph: intervals are over these;
            None if nothing is declared.
    """

    pairs: pl.DataFrame
    human_scores: pl.DataFrame | None
    name: str
    version: str
    part: tuple[tuple[str, str], ...] = ()
    sets: tuple[SuiteSet, ...] = ()
    splits: tuple[str, ...] = ()
    home: str | None = None
    equal: tuple[str | None, ...] = ()
    n_whole: int | None = None
    instruction: Instruction | None = None
    has_contexts: bool = True
    cluster: str | None = None

    @property
    def several_splits(self) -> tuple[str, ...]:
        """The chosen splits, if the data has several; else empty."""
        return self.splits if "split" in dict(self.part) or len(self.splits) > 1 else ()

    @property
    def title(self) -> str:
        """The name, with the chosen part of the data, and its splits if it has several."""
        part = dict(self.part)
        splits = [describe_splits(self.several_splits)] if self.several_splits else []
        options = [f"--{option} {part[option]}" for option in part if option != "split"]
        return f"{self.name} ({', '.join(splits + options)})" if splits + options else self.name

    def judgements(self) -> Judgements | None:
        """Return the judgements behind the human scores, of the same splits; None if unknown."""
        if self.home is None or self.human_scores is None:
            return None
        return find_judgements(self.home, self.splits if "split" in dict(self.part) else None)

    def headline(self) -> str:
        """Return the number of pairs and contexts, and whether systems have human scores."""
        contexts = self.pairs.select(CONTEXT).n_unique()
        people = self.human_scores
        systems = counted(0 if people is None else people["system"].n_unique(), "system")
        return (
            f"{self.title} has {self.pairs.height:,} pairs in {contexts:,} contexts, and human "
            f"scores of {systems}.{f' {equal_texts(len(self.equal))}.' if self.equal else ''}"
        )

    def table(self) -> "RichTable":
        """Return the number of pairs of each split, aspect and category."""
        rows = [
            (column, value, f"{n:,}")
            for column in OPTIONAL
            for value, n in self.pairs[column].drop_nulls().value_counts().sort(column).iter_rows()
        ]
        return text_table(("column", "value", "pairs"), rows, right=["pairs"])

    def to_frame(self) -> pl.DataFrame:
        """Return the pairs."""
        return self.pairs

    def to_dataset(self) -> "datasets.Dataset":
        """Return the pairs as a `datasets.Dataset`."""
        return to_dataset(self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: the pairs and the human scores as lists of objects."""
        people = self.human_scores
        return {
            "name": self.name,
            "version": self.version,
            "pairs": self.pairs.to_dicts(),
            "human_scores": None if people is None else people.to_dicts(),
        }


def load_pairs(
    data: PairData | PairSet,
    *,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
) -> PairSet:
    """Read pairs from a folder, a file, the Hub, or a table in memory.

    A table of one's own needs columns with known names: candidate_high and candidate_low, with
    context; sentence_good and sentence_bad (BLiMP); or chosen and rejected, with prompt, as texts
    or as messages (TRL, RewardBench). Of ours, error_category, aspect, category, error_group,
    inputs and the ids are used if they exist; else subset, UID or category is the error category.
    Without a context each pair is a cluster of its own. Pairs whose candidates are the same text,
    as in `nnd convert`, are dropped unless they are from a folder that nnd wrote.

    Args:
        data: A folder that `nnd convert` or `nnd publish` made; a JSON Lines, CSV or Parquet file,
            or a folder of such files; the URL of a file (on any file system that fsspec knows, such
            as `s3://BUCKET/pairs.parquet`); `ORG/name[@revision]` of a dataset on the Hub
            (downloaded at exactly the commit of the revision); a polars or pandas frame, a
            `datasets.Dataset`, or a list of dicts. Pairs that were loaded before are returned.
        columns: Columns of a table of one's own: `high`, `low`, `context`, `category`, or another
            column of ours → its name in the table.
        cluster: Column of a table of one's own whose values say which pairs belong together, as a
            paradigm of BLiMP (UID): intervals are over these.

    Raises:
        ScoringError: If it cannot be read, a column is missing, or a text is null.
        SchemaError: If a file of a folder cannot be read, or was changed since it was written.
        NNDError: If this process was forked (`check_not_forked`).
    """
    check_not_forked()
    if isinstance(data, PairSet):
        return data
    tables, place = _find_tables(data, columns_read(columns, cluster))
    name = None if place is None else place.repo or place.path.resolve().name
    if tables:
        pairs = _own_pairs(tables, name, columns, cluster)
    elif columns or cluster:
        raise ScoringError(
            "option.conflict",
            "these are pairs of nnd, whose columns are known",
            data,
            "leave out --columns and --cluster, which are for tables of your own",
        )
    else:
        assert place is not None and name is not None  # noqa: S101, PT018 - a folder
        pairs = _read_folder(place.path, name, str(data))
    if place is None or place.commit is None:
        return pairs
    home = None if tables else f"{place.repo}@{place.commit}"
    return replace(pairs, version=place.commit, home=home)


def _find_tables(
    data: PairData, wanted: Collection[str]
) -> tuple[list[OwnTable], DataPlace | None]:
    """Return the tables of one's own in data, none in a folder of nnd; and the folder, if any."""
    if not isinstance(data, str | Path):
        return [OwnTable.of(to_frame(data), name_of(data))], None
    if is_url(data):
        return [read_table(data, wanted)], None
    place = find_place(data, NEEDED)
    if place.path.is_file():
        return [read_table(place.path, wanted)], None
    if frame_files(place.path, "pairs") or (place.path / MANIFEST).is_file():
        return [], place
    if place.repo is None:
        return tables_in(place.path, wanted), place
    folder = find_place(f"{place.repo}@{place.commit}", HUB_FILES).path
    is_empty = all(path.name == "README.md" for path in folder.rglob("*.*"))
    return [] if is_empty else read_hub_dataset(folder, place.repo, wanted), place


def _read_folder(folder: Path, name: str, where: str) -> PairSet:
    rows = find_frame(folder, "pairs")
    if rows is None:
        raise ScoringError("data.not-converted", "pairs.parquet not found", where)
    pairs = _pair_set(rows, read_scores_in(folder), name)
    sets = [
        replace(each, pairs=_pair_set(each.pairs, None, f"{name}, set {each.name}").pairs)
        for each in read_sets(folder, rows)
    ]
    return replace(
        pairs,
        sets=tuple(sets),
        home=str(folder),
        instruction=instruction_in(folder),
        cluster=cluster_in(folder),
    )


def equal_texts(n: int) -> str:
    """Say how many pairs were dropped, because both candidates are the same text."""
    return f"{counted(n, 'pair')} {WITH_EQUAL_TEXTS} {'was' if n == 1 else 'were'} dropped"


def version_of_rows(pairs: pl.DataFrame) -> str:
    """Return the version of some pairs of a `PairSet` (see there)."""
    return version_of(sum_digests(complete_pairs(pairs, "").digests))


def _own_pairs(
    tables: Sequence[OwnTable],
    name: str | None,
    columns: Mapping[str, str] | None,
    cluster: str | None,
) -> PairSet:
    frames = [frame_of_table(table, columns, cluster) for table in tables]
    name = name or tables[0].name
    whole = _pair_set(pl.concat(frames, how="diagonal_relaxed"), None, name)
    if cluster is not None:
        whole = replace(whole, part=(("cluster", cluster),), cluster=cluster)
    equal = have_equal_texts(whole.pairs)
    if not equal.any():
        return whole
    kept = _pair_set(whole.pairs.filter(~equal), None, name)
    dropped = tuple(whole.pairs.filter(equal)["split"])
    return replace(kept, equal=dropped, part=whole.part, cluster=whole.cluster)


def _pair_set(frame: pl.DataFrame, human_scores: pl.DataFrame | None, name: str) -> PairSet:
    pairs, digests = complete_pairs(frame, name)
    return PairSet(
        pairs,
        human_scores,
        name,
        version_of(sum_digests(digests)),
        has_contexts=has_contexts(pairs),
    )
