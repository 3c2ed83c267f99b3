"""From a converted folder and operations to a suite of perturbed sets."""

from collections.abc import Sequence
from pathlib import Path

from nnd.converters.derive.operations import Operation, Target, find_operation
from nnd.converters.derive.parents import read_parents
from nnd.converters.derive.perturbing import check_variants, perturb
from nnd.converters.derive.report import SuiteReport
from nnd.converters.derive.suite_folder import check_names, check_place, write_suite
from nnd.schemas import NNDError


def derive(
    data: str | Path,
    operations: Sequence[str | Operation],
    *,
    out: str | Path,
    seed: int = 0,
    variants: int = 1,
    on: Target | None = None,
) -> SuiteReport:
    """Perturb the pairs of a converted folder, and write them beside their parents as a suite.

    Every operation makes a set of children. What is drawn for a text depends on `seed`, the text's
    id, the operation and the number of the variant, never on the order of rows: all pairs of a
    context share its changed context.

    Args:
        data: A folder that `convert` wrote.
        operations: `typos=0.05`, `punctuation`, … as `nnd derive --list` shows them;
            `path.py:function` for one of your own: it takes a text and a `random.Random`, and
            returns the changed text, or None to reject it.
        out: Folder to write: the files of `data`, and `sets/NAME.parquet` for each operation. The
            same input gives the same bytes.
        seed: Seed of what is drawn.
        variants: How many variants to draw of each text; operations that draw nothing make one.
        on: Which texts to change: `context`, `candidate` or `both`; None: what each operation
            changes by itself.

    Returns:
        What was made, with counts.

    Raises:
        SchemaError: If `data` is not a converted folder, was changed, or is a suite itself.
        NNDError: If an operation is not known, has a wrong value, would change labels, fails or
            changes nothing, or `out` holds what nnd did not write; nothing is written then.
    """
    check_variants(variants)
    if not operations:
        raise NNDError("no operation is given; `nnd derive --list` shows those there are")
    chosen = [find_operation(each) if isinstance(each, str) else each for each in operations]
    if on is not None:
        chosen = [operation.applied_to(on) for operation in chosen]
    check_names(operation.set_name for operation in chosen)
    parents = read_parents(data)
    check_place(parents, Path(out))
    sets = (perturb(parents.pairs, operation, seed=seed, variants=variants) for operation in chosen)
    return write_suite(parents, sets, out)
