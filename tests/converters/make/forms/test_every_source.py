"""Every operation on the texts of every source: what parses before parses after, and only what the
operation names has changed. The fixtures here; the real files with NND_TEST_FULL=1."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.forms.second_reader import differs_elsewhere, read
from support.recounts.built_in_sources import Case, fixture_cases
from support.recounts.counted_again import conversion_of, converted
from support.recounts.readings import READINGS, Reading

from nnd.converters.folder.conversion import Conversion
from nnd.converters.make.text_operations.operation import RefusalError, Statement
from nnd.converters.make.text_operations.spelling import find_operation

PERTURBATIONS = (
    *("typos=0.2", "punctuation", "case", "whitespace=0.3", "function_words=0.5"),
    *("order", "numbers"),
)
FALSIFICATIONS = ("negation", "numbers", "swap_speakers")
FULL = bool(os.environ.get("NND_TEST_FULL"))
CASES = [*fixture_cases()]


def contexts(conversion: Conversion) -> set[str]:
    parts = conversion.pairs["inputs"].explode().struct.field("value").drop_nulls()
    return {*parts, *conversion.pairs["context"]}


def candidates(conversion: Conversion) -> set[str]:
    return {*conversion.pairs["candidate_high"], *conversion.pairs["candidate_low"]}


def outcomes(texts: set[str]) -> Iterator[tuple[str, str]]:
    """Each operation with what became of each text; fails where more has changed."""
    for spelled in PERTURBATIONS:
        operation = find_operation(spelled)
        for text in texts:
            try:
                (new,) = operation.apply(Statement("test", text, [text]), seed=1, variant=1)
            except RefusalError as refusal:
                yield operation.name, str(refusal)
                continue
            old = read(text)
            found = differs_elsewhere(operation.name, old, new if old == text else read(new))
            assert found is None, f"{spelled}: {found}\n{text[:2000]}\n→\n{new[:2000]}"
            yield operation.name, "unchanged" if new == text else "changed"


def negatives(texts: set[str]) -> Iterator[tuple[str, str]]:
    """Each text that is no prose, made wrong; fails where it is none of its kind any more."""
    for text in texts:
        old = read(text)
        for name in FALSIFICATIONS if not isinstance(old, str) else ():
            operation = find_operation(name, keeps_label=False)
            statement = Statement("test", text, [text], "1", text)
            try:
                (new,) = operation.apply(statement, seed=1, variant=1)
            except RefusalError as refusal:
                yield f"negatives: {name}", str(refusal)
            else:
                assert type(read(new)) is type(old), f"{name}: {text[:2000]}\n→\n{new[:2000]}"
                yield f"negatives: {name}", "changed"


def check(conversion: Conversion) -> Counter[tuple[str, str]]:
    both = contexts(conversion) | candidates(conversion)
    return Counter([*outcomes(both), *negatives(both)])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.source}-{case.place.name}")
def test_what_parses_before_parses_after(case: Case) -> None:
    conversion = converted(case.source, case.place, set_name=case.set_name, variant=case.variant)
    found = check(conversion)

    assert found.total() >= len(PERTURBATIONS) * len(contexts(conversion))


@pytest.mark.skipif(not FULL, reason="the real files take minutes: NND_TEST_FULL=1")
@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: str(reading)[:40])
def test_what_parses_before_parses_after_in_the_real_files(
    reading: Reading, nnd_data: Path, record_property: Callable[[str, object], None]
) -> None:
    found = check(conversion_of(reading, nnd_data))

    record_property("counts", {" | ".join(key): n for key, n in sorted(found.items())})
    assert found.total() >= len(PERTURBATIONS)
