"""Contexts that share most of their text, where no cluster says so."""

import polars as pl
import pytest

from nnd.converters.check import CheckedData
from nnd.converters.check.shared_texts import check_shared_texts

SENTENCES = [
    "The heron stands in the reeds at dawn, as ever.",
    "Nobody saw it fly away after that.",
]


def data(contexts: list[str], **columns: str) -> CheckedData:
    pairs = pl.DataFrame(
        {
            "split": "test",
            "context_id": [f"c{n}" for n in range(len(contexts))],
            "context": contexts,
            "candidate_high": "yes",
            "candidate_low": "no",
            "high_id": [f"h{n}" for n in range(len(contexts))],
            "low_id": "l",
        }
    )
    return CheckedData("mine", pairs.with_columns(**{k: pl.lit(v) for k, v in columns.items()}))


def own(n: int) -> str:
    return f"A text of its own about the number {n}, and about nothing else."


def shared(n: int) -> str:
    return f"{' '.join(SENTENCES)}\nWhat did {n} see?"


MIXED = [*(shared(n) for n in range(4)), *(own(n) for n in range(8))]


def test_contexts_with_one_paragraph_are_found_and_what_to_do_is_said() -> None:
    outcome, message, remedy = check_shared_texts(data(MIXED))

    assert outcome == "review"
    assert message.startswith("4 of 12 contexts share half of their text or more with another one")
    assert "in 1 group" in message
    assert "`cluster` in source.yaml" in remedy


@pytest.mark.parametrize(
    "contexts",
    [
        [own(n) for n in range(12)],
        [
            f"{own(n)} {SENTENCES[1]} Then came the end of the {n}th day, which was long."
            for n in (1, 2)
        ]
        + [own(n) for n in range(3, 12)],
        [f"Answer the question in one short sentence. Who is {n}?" for n in range(12)],
    ],
    ids=["nothing", "less than half", "an instruction"],
)
def test_other_contexts_are_right(contexts: list[str]) -> None:
    assert check_shared_texts(data(contexts))[0] == "pass"


def test_what_is_declared_is_not_found() -> None:
    assert check_shared_texts(data(MIXED, cluster="paragraph:p"))[0] == "pass"
    declared = CheckedData("mine", data(MIXED).pairs, facts={"cluster": "paragraph"})
    assert check_shared_texts(declared)[1] == "contexts may share a paragraph"
