"""From a definition and a converted folder to a suite."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nnd.converters.make.negating import make_negatives
from nnd.converters.make.originals import good_texts
from nnd.converters.make.parents import Parents, read_parents
from nnd.converters.make.perturbing import perturb
from nnd.converters.make.shifted import SHIFTS, shift_set
from nnd.converters.make.suite_folder import SuiteSet, check_place, write_suite
from nnd.converters.make.suite_report import SuiteReport
from nnd.converters.make.suites.definition import Definition, kind_of
from nnd.converters.make.suites.hand_made import hand_made_set
from nnd.converters.make.suites.sliced_sets import Slicing, slice_set
from nnd.converters.make.text_operations.spelling import find_falsification, find_operation
from nnd.schemas import NNDError, SchemaError, read_frame


def build_suite(
    definition: Definition, data: str | Path, out: str | Path, slicing: Slicing
) -> SuiteReport:
    """Build the suite that a definition describes; the same input gives the same bytes.

    Args:
        definition: What to build (`read_definition`).
        data: The converted folder of the definition's source.
        out: Folder to write.
        slicing: Functions that slice pairs.

    Raises:
        SchemaError: If the folder holds another source, was changed, or is a suite.
        NNDError: If a set cannot be made, or the folder cannot be written; nothing is written then.
    """
    parents = read_parents(data)
    source = parents.manifest["source"]["name"]
    if source != definition.source:
        raise SchemaError(
            f"{definition.path}: is for the source {definition.source}, but {data} holds {source}; "
            f"name a folder converted from {definition.source} with --data"
        )
    check_place(parents, Path(out))
    return write_suite(parents, _sets(definition, parents, slicing), out)


def _sets(definition: Definition, parents: Parents, slicing: Slicing) -> Iterator[SuiteSet]:
    annotations = read_frame(parents.folder, "annotations")
    for number, entry in enumerate(definition.sets, start=1):
        try:
            kind = kind_of(entry)
            if kind == "op":
                yield _derived_set(definition, parents, entry)
            elif kind == "file":
                yield hand_made_set(parents.pairs, definition.path.parent / entry["file"], entry)
            elif kind in SHIFTS:
                yield shift_set(parents.pairs, entry, seed=definition.seed)
            else:
                yield slice_set(parents.pairs, annotations, entry, slicing)
        except NNDError as error:
            where = f"{definition.path}: set {number}"
            raise type(error)(f"{where}: {error}") from error


def _derived_set(definition: Definition, parents: Parents, entry: Mapping[str, Any]) -> SuiteSet:
    """Return the perturbed pairs or negatives that an entry describes."""
    seed, variants = entry.get("seed", definition.seed), entry.get("variants", 1)
    name, note = entry.get("name"), entry.get("note")
    if "negatives" in entry:
        return make_negatives(
            good_texts(parents, entry["negatives"], entry.get("aspect")),
            find_falsification(entry["op"]),
            which=entry["negatives"],
            seed=seed,
            variants=variants,
            name=name,
            note=note,
        )
    operation = find_operation(entry["op"])
    if "on" in entry:
        operation = operation.applied_to(entry["on"])
    return perturb(parents.pairs, operation, seed=seed, variants=variants, name=name, note=note)
