"""From an annotation file to a folder of pairs, human scores, annotations and a manifest."""

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.cards import renew_card
from nnd.converters.folder.conversion_tables import (
    count_remarks,
    counts_tables,
    hygiene_tables,
    pairs_of_contexts,
    pairs_table,
)
from nnd.converters.folder.derived import DerivedRows, Part, derive
from nnd.converters.folder.examples.sentences import example_sentences
from nnd.converters.folder.writing import card_in, write_manifest, write_rows
from nnd.converters.pairs import (
    annotation_frame,
    check_steps,
    normalise_texts,
    reference_frame,
    unread_values,
)
from nnd.converters.source import (
    BUILT_IN,
    Files,
    Source,
    choose_converter,
    find_set,
    load_source,
    say_whose_rights,
)
from nnd.schemas import (
    CONTEXT,
    MANIFEST,
    VALIDITY,
    Printable,
    SourceError,
    check_frame,
    check_replaceable,
    counted,
    list_files,
    nnd_version,
    read_rules,
    replace_folder,
    write_document,
)

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class Conversion(Printable):
    """A source converted in memory.

    Attributes:
        annotations: Rows of the annotation schema.
        pairs: Rows of the pair schema.
        human_scores: Rows of the human_score schema.
        references: Rows of the reference schema; few sources have any.
        manifest: Source, rule, counts, dropped, hygiene, input files, tool version.
        sets: Name → rows of the pair schema, for the sets of a suite.
        validity: How well the negatives of a suite represent human pairs, if they were compared.
    """

    annotations: pl.DataFrame
    pairs: pl.DataFrame
    human_scores: pl.DataFrame
    references: pl.DataFrame
    manifest: dict[str, Any]
    sets: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    validity: Mapping[str, Any] | None = None

    def headline(self) -> str:
        """Return the numbers of pairs, contexts and systems, and the source."""
        counts, source = self.manifest["counts"], self.manifest["source"]
        chosen = (f", {kind} {source[kind]}" for kind in ("set", "variant") if source.get(kind))
        made, judged = pairs_of_contexts(counts, self.pairs.select(CONTEXT).n_unique())
        systems = f" and {counted(counts['systems'], 'system')}" if counts["systems"] else ""
        return f"{made}{systems} from {source['name']}{''.join(chosen)}{judged}."

    def table(self) -> "Table":
        """Return the pairs of each error category."""
        return pairs_table(self.manifest)

    def remarks(self) -> list[str]:
        """Return what was dropped, remarks on the input, and two example pairs."""
        examples = example_sentences(self.pairs, self.annotations)
        return [*count_remarks(self.manifest), *self._input_remarks(), *examples]

    def details(self) -> list["Table"]:
        """Return tables of all counts, and of the form and length of the texts."""
        return [*counts_tables(self.manifest), *hygiene_tables(self.manifest["hygiene"])]

    def _input_remarks(self) -> list[str]:
        """Return remarks on the input: unverified files, oddities, changed texts."""
        declared = {file["name"]: file["sha256"] for file in self.manifest["source"]["files"]}
        unverified = (file["name"] for file in self.manifest["files"] if not file["verified"])
        notes = [
            f"{name} is unverified (its SHA-256 "
            f"{'is not declared' if declared[name] is None else 'differs from the declared one'}): "
            "expected counts were not checked"
            for name in unverified
        ]
        notes += [f"note: {oddity}" for oddity in self.manifest["oddities"]]
        if self.manifest["normalised"]:
            steps = ", ".join(self.manifest["normalised"])
            notes.append(f"candidates and contexts were changed: {steps}")
        return notes

    def to_frame(self) -> pl.DataFrame:
        """Return the pairs."""
        return self.pairs

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest."""
        return self.manifest

    def write(self, folder: str | Path) -> None:
        """Write the conversion to a new folder, or replace an older one.

        A card there is written again; text above or below its marks stays.

        Raises:
            NNDError: If the folder holds anything that nnd did not write, or cannot be written; or
                if nnd's part of the card was changed by hand.
        """
        frames = {
            "pairs.parquet": self.pairs,
            "human_scores.parquet": self.human_scores,
            "annotations.parquet": self.annotations,
        }
        if not self.references.is_empty():
            frames["references.parquet"] = self.references
        cards = card_in(Path(folder))
        with replace_folder(Path(folder), document=MANIFEST, beside=cards) as fresh:
            self.write_files(fresh, frames)
            for name in cards:
                renew_card(Path(folder, name), fresh)

    def write_files(
        self, folder: Path, frames: Mapping[str, pl.DataFrame], others: Sequence[str] = ()
    ) -> None:
        """Write rows to files with these names, and the manifest.

        The folder is empty but for `others`, files that the manifest lists too.
        """
        outputs = {name: write_rows(frame, folder / name) for name, frame in frames.items()}
        write_manifest(self.manifest | {"outputs": outputs | list_files(folder, others)}, folder)
        if self.validity is not None:
            write_document(folder, self.validity, document=VALIDITY)


def convert(
    source: str | Path,
    *,
    origin: str | Path | None = None,
    out: str | Path | None = None,
    set_name: str | None = None,
    variant: str | None = None,
    normalise: Sequence[str] = (),
    accept_changed: str | None = None,
    keep_equal: bool = False,
) -> Conversion:
    """Convert human annotations into NND pairs and human scores.

    Writes pairs.parquet, human_scores.parquet, annotations.parquet, manifest.json and, where the
    source has any, references.parquet; the same input gives the same bytes. The convert.py of a
    folder runs with your permissions: read the code of strangers first.

    Args:
        source: Built-in source, or folder with a source.yaml.
        origin: Folder or file with the annotations. None means the source's own folder, the
            download cache, or the declared URL.
        out: Folder to write, in which only the files that its manifest lists are replaced. In
            Python, None means that nothing is written.
        set_name: Which of a source's sets of files, e.g. ted/ende. None means the main one, or the
            one whose files are given.
        variant: Another reading of the same files, e.g. severity. None means the main one.
        normalise: Normalise candidates, contexts and references, in this order: nfc, whitespace or
            detokenise. Empty means texts are not changed.
        accept_changed: Why files that differ from the declared ones are accepted; the card quotes
            it.
        keep_equal: Whether to keep pairs of two equal texts, as some published counts do; they tie,
            so they fail.

    Raises:
        SourceError: If a file is not what the source declares, or there are no pairs; nothing is
            written then.
        NNDError: If `out` is a file, or a folder that holds anything that nnd did not write, or a
            step is not known.

    Examples:
        nnd convert quiz_design
        nnd convert ./my_source --from ratings.csv --out my_source-nnd
    """
    if out is not None:
        check_replaceable(Path(out), document=MANIFEST, beside=card_in(Path(out)))
    place = None if origin is None else Path(origin)
    chosen = load_source(source)
    if set_name is not None:
        chosen = chosen.choose("set", set_name)
    elif place is not None:
        chosen = find_set(chosen, place)
    if variant is not None:
        chosen = chosen.choose("variant", variant)
    code = chosen.folder / "convert.py"
    is_installed = chosen.folder != Path(source) or BUILT_IN in chosen.folder.absolute().parents
    if code.is_file() and not is_installed:
        say_whose_rights(code)
    conversion = convert_source(
        chosen, place, normalise, accept_changed=accept_changed, keep_equal=keep_equal
    )
    if out is not None:
        conversion.write(out)
    return conversion


def convert_source(
    source: Source,
    origin: Path | None = None,
    normalise: Sequence[str] = (),
    *,
    accept_changed: str | None = None,
    keep_equal: bool = False,
) -> Conversion:
    """Convert a loaded source in memory (see `convert`)."""
    check_steps(normalise)
    if accept_changed is not None and not accept_changed.strip():
        raise SourceError("option.reason-missing", where="--accept-changed")
    files = Files(source, origin)
    with contextlib.redirect_stdout(sys.stderr):  # a converter that prints must not spoil --json
        converter = choose_converter(source)
        annotations = annotation_frame(source, converter.annotations(files))
        references = reference_frame(source, converter.references(files), annotations, files.report)
    digests = files.digests()
    if accept_changed is None:
        files.check_declared(digests)
    source = source.for_files(digests)
    annotations, references = (
        normalise_texts(rows, normalise) for rows in (annotations, references)
    )
    derived = derive(annotations, references, source, keep_equal=keep_equal)
    verified = bool(digests) and all(file["verified"] for file in digests)
    # Changed texts, and pairs of equal texts, give other counts than the source expects.
    as_expected = verified and not normalise and not keep_equal
    _check_result(source, annotations, derived, verified=as_expected)
    manifest = {
        "nnd_version": nnd_version(),
        "source": {k: v for k, v in source.facts.items() if k not in ("sets", "variants")},
        "files": digests,
        "oddities": files.oddities,
        "normalised": list(normalise),
        "keep_equal": keep_equal,
        **derived.facts,
    }
    if accept_changed is not None and not verified:
        manifest["accept_changed"] = accept_changed
    return Conversion(annotations, derived.pairs, derived.human_scores, references, manifest)


def convert_again(
    annotations: pl.DataFrame,
    references: pl.DataFrame,
    manifest: Mapping[str, Any],
    part: Part | None = None,
) -> Conversion:
    """Derive pairs, human scores and counts from the annotations of a converted folder.

    At most the texts of annotations and references were changed, and those of a slice were not. The
    manifest is the folder's; its source, files, oddities and steps stay. Without a `part`, all
    pairs are kept.
    """
    if "slice" in manifest and part is None:
        raise SourceError(
            "data.is-a-suite",
            "the texts of a slice cannot be changed, because other pairs would follow from them",
            manifest["source"]["name"],
            "change the texts of the whole data, then slice it",
        )
    source = Source(Path(manifest["source"]["name"]), manifest["source"])
    keep_equal = bool(manifest.get("keep_equal"))
    derived = derive(annotations, references, source, keep_equal=keep_equal, part=part)
    if part is None:
        _check_result(source, annotations, derived, verified=False)
    facts = {**manifest, **derived.facts, **({"slice": {"name": part.name}} if part else {})}
    return Conversion(annotations, derived.pairs, derived.human_scores, references, facts)


def _check_result(
    source: Source, annotations: pl.DataFrame, derived: DerivedRows, *, verified: bool
) -> None:
    """Check that there are pairs, that rows keep the contract, and that counts are as expected.

    If every context has one candidate, there are human scores and no pairs.
    """
    alone = sum(entry.n for entry in derived.dropped if entry.reason == "one_candidate")
    if derived.pairs.is_empty() and not 0 < alone == derived.facts["counts"]["contexts"]:
        reasons = [f"{one.n:,} {one.what} {one.reason}" for one in derived.dropped if one.n]
        if not derived.facts["counts"]["annotations"]:
            reasons = ["no annotation was read"]
        why = f" ({', '.join(reasons)})" if reasons else ""
        for what, remedy in unread_values(annotations, read_rules(source.facts["quality"])):
            raise SourceError(
                "source.quality-rule", f"the file makes no pair: {what}", source.name, remedy
            )
        raise SourceError(
            "file.another-kind",
            f"the file makes no pair{why}",
            source.name,
            "check that it is the right file and that `quality` in source.yaml fits it",
        )
    known: dict[str, Any] = source.facts["expected"] or {}
    counts = derived.facts["counts"]
    for name, expected in known.items() if verified else ():
        if name in counts and counts[name] != expected:
            raise SourceError(
                "source.counts",
                f"{name} is {counts[name]} where source.yaml expects {expected}, although "
                "the file is the declared one",
                source.folder,
            )
    for problem in check_frame("pair", derived.pairs):
        raise problem.error(SourceError, "data.invalid", "pair")
    for problem in check_frame("human_score", derived.human_scores):
        raise problem.error(SourceError, "data.invalid", "human_score")
