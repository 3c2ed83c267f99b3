"""From a converted folder and operations to a suite of perturbed pairs or negatives."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from nnd.converters.make.negating import make_negatives
from nnd.converters.make.originals import GoodTexts, good_texts
from nnd.converters.make.perturbing import perturb
from nnd.converters.make.reference_tables import check_options, derive_from_table
from nnd.converters.make.suite_folder import (
    SuiteReport,
    check_names,
    check_place,
    read_parents,
    write_suite,
)
from nnd.converters.make.text_operations.operation import Target
from nnd.converters.make.text_operations.spelling import find_operation
from nnd.schemas import NNDError


def derive(
    data: str | Path,
    operations: Sequence[str],
    *,
    out: str | Path,
    seed: int = 0,
    variants: int = 1,
    on: Target | None = None,
    negatives: GoodTexts | None = None,
    aspect: str | None = None,
) -> SuiteReport:
    """Perturb the pairs of a converted folder, or make negatives.

    Writes a suite: a copy of the folder with the parents, and sets/NAME.parquet for each operation.
    Made pairs are marked and never count as human. A function from a file runs with your
    permissions: read the code of strangers first. To look at a set: nnd show OUT/sets/NAME.parquet.

    In Python, a function of your own takes a text and a `random.Random`, and returns the changed
    text, or None to reject it; for negatives, one with a parameter `context` gets the text's
    context. In Python, random draws for a text depend on the seed, the text's id, the operation and
    the number of the variant, not on the order of rows, so all pairs of a context share its changed
    context.

    Args:
        data: Converted folder; or, with references, a table of contexts and references to train on
            (.csv, .tsv, .json, .jsonl or .parquet): the folder then gets references.jsonl, which
            has the negatives of each.
        operations: An operation, such as `typos=0.05`, or `path.py:function`.
        out: Folder to write; the same input gives the same bytes.
        seed: Random seed.
        variants: Number of variants of each text; operations without randomness make one.
        on: Which texts to change. None means the texts that each operation is made for.
        negatives: Make negatives from these right texts instead: preferred candidates, references,
            or the candidate of each context with the highest ROUGE-L against it. None means pairs
            are perturbed.
        aspect: For negatives: aspect of the pairs. None means the only one.

    Returns:
        The sets that were made, with counts.

    Raises:
        SchemaError: If `data` is not a converted folder, was changed, or is a suite itself.
        NNDError: If an operation is not known, has a wrong value, would change labels (or, with
            `negatives`, would not), fails or changes nothing, there are no such texts, or
            `out` holds what nnd did not write; nothing is written then.

    Examples:
        nnd derive quiz_design-nnd --op typos=0.05 --op numbers --seed 1
        nnd derive confit_samsum-nnd --negatives preferred --op swap_speakers
        nnd derive samsum.jsonl --negatives references --op swap_speakers
        nnd derive --list
    """
    if variants < 1:
        raise NNDError(
            "option.bad-value", f"{variants} variants of each text", remedy="make at least 1"
        )
    if not operations:
        raise NNDError(
            "input.missing", "no operation is given", remedy="`nnd derive --list` shows them"
        )
    if negatives is None and aspect is not None:
        raise NNDError("option.needs-another", "--aspect needs --negatives")
    if negatives is not None and on is not None:
        raise NNDError("option.conflict", "--on is for perturbations, not --negatives")
    chosen = [find_operation(spelled, keeps_label=negatives is None) for spelled in operations]
    if on is not None:
        chosen = [operation.applied_to(on) for operation in chosen]
    check_names(operation.set_name for operation in chosen)
    if Path(data).is_file():
        check_options(negatives, aspect, Path(data))
        return derive_from_table(Path(data), chosen, out=Path(out), seed=seed, variants=variants)
    parents = read_parents(data)
    check_place(parents, Path(out))
    if negatives is None:
        make = partial(perturb, parents.pairs)
    else:
        make = partial(make_negatives, good_texts(parents, negatives, aspect), which=negatives)
    sets = (make(operation, seed=seed, variants=variants) for operation in chosen)
    return write_suite(parents, sets, out)
