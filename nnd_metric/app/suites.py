"""Suites built with the slices of the metric, which the converters cannot import."""

from pathlib import Path

from nnd.converters.make import Slicing, SuiteReport, build_suite, read_definition
from nnd.metric.app.any_data import find_data


def suite(
    definition: str | Path, *, out: str | Path, data: str | Path | None = None
) -> SuiteReport:
    """Build a suite: a converted folder with the sets that a definition lists.

    Args:
        definition: A YAML file (`suite.schema.json`), or the name of a built-in definition:
            quiz_design, summeval, wmt_mqm.
        out: Folder to write: the files of `data`, unchanged, and `sets/NAME.parquet` for each set.
            The same input gives the same bytes.
        data: The folder that `convert` wrote from the definition's source; None converts the
            built-in source of that name.

    Returns:
        A description of the suite, with counts.

    Raises:
        NNDError: If the definition cannot be read, is for another source, or a set cannot be made;
            nothing is written then.

    Examples:
        nnd suite build quiz_design --out quiz_design-suite
        nnd suite build suite.yaml --data my_source-nnd --out my_suite
    """
    found = read_definition(definition)
    place = find_data(found.source) if data is None else data
    return build_suite(found, place, out, _slicing())


def _slicing() -> Slicing:
    from nnd.metric.numbers import slice_names, where_true

    return Slicing(
        lambda pairs, by, annotations: slice_names(pairs, by, annotations=annotations),
        lambda pairs, condition, annotations: where_true(pairs, condition, annotations).tolist(),
    )
