"""Suites built with the slices of the metric, which the converters cannot import."""

from pathlib import Path

from nnd.converters.make import Slicing, SuiteReport, build_suite, read_definition
from nnd.metric.app.any_data import find_data


def suite(
    definition: str | Path, *, out: str | Path, data: str | Path | None = None
) -> SuiteReport:
    """Build a suite: perturbed sets, slices, samples of a source.

    Writes the folder of the human pairs and sets/NAME.parquet for each set; the same input gives
    the same bytes. A definition may run Python functions: read the code of strangers first.

    Args:
        definition: YAML file, or a built-in definition: quiz_design, summeval, wmt_mqm.
        out: Folder to write.
        data: Folder converted from the definition's source. None means the built-in source.

    Returns:
        A description of the suite, with counts.

    Raises:
        NNDError: If the definition cannot be read, is for another source, or a set cannot be made;
            nothing is written then.

    Examples:
        nnd suite build quiz_design --out quiz_design-suite
        nnd suite build suite.yaml --data my_source-nnd --out my_suite
    """
    from nnd.metric.numbers import slice_names, where_true

    found = read_definition(definition)
    place = find_data(found.source) if data is None else data
    slicing = Slicing(
        lambda pairs, by, annotations: slice_names(pairs, by, annotations=annotations),
        lambda pairs, condition, annotations: where_true(pairs, condition, annotations).tolist(),
    )
    return build_suite(found, place, out, slicing)
