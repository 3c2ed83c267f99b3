"""Every source in its sets and variants, and what makes a candidate better in each."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from support.recounts.judged_systems import (
    d2t_eval,
    faithbench,
    faithjudge,
    fib,
    fib_edits,
    qgeval,
    quintd,
    wmt24_esa,
)
from support.recounts.made_errors import bump, demetr, llmbar, summedits
from support.recounts.raw_files import (
    Text,
    challenge300,
    confit_samsum,
    frank,
    goyal,
    quiz_design,
    rated,
    simplification,
)
from support.recounts.translations import wmt23_mqm_sxs, wmt_mqm, wmt_mqm_scores, wmt_qe

TOLERANCE = Decimal("1e-6")
"""By which a difference of means may fall short, as they are stored as decimals."""

SEVERITIES = ("No-error", "Minor", "Major")
"""Those of the TED files, the best first."""


class Reading(NamedTuple):
    """A source in one of its sets and variants.

    Attributes:
        source: Its name.
        texts: Returns the candidates of its real files, given their folder.
        better: What the first mark is better in: error categories, or the aspect itself (True).
        value: How good a mark is; None where it does not count.
        origin: File or folder to convert, below the folder of real files.
        folder: Folder of real files, where it is not called like the source.
        options: Set and variant, as `convert` names them.
        constructed: Whether people made the errors on purpose.
        between: Whether a mark is neither good nor bad, where the rule names both.
    """

    source: str
    texts: Callable[[Path], list[Text]]
    better: Callable[[Any, Any], Sequence[str] | bool]
    value: Callable[[Any], float | None]
    origin: str = ""
    options: Mapping[str, str] = {}
    constructed: bool = False
    folder: str | None = None
    between: Callable[[Any], bool] | None = None

    def place(self, data: Path) -> Path:
        """The folder of its real files."""
        return data / (self.folder or self.source)

    @property
    def id(self) -> str:
        parts = [self.source, self.origin, *self.options.values()]
        return "-".join(part for part in parts if part).replace("/", "-")


def no_error(high: Sequence[str] | None, low: Sequence[str] | None) -> Sequence[str]:
    """No error is better than an error, in each of its categories."""
    return [] if high is None or low is None or _errors(high) else _errors(low)


def error_free(mark: Sequence[str] | None) -> float | None:
    return None if mark is None else float(not _errors(mark))


def _errors(mark: Sequence[str]) -> list[str]:
    return [label for label in mark if label != "No-error"]


def by_worst(high: Sequence[str], low: Sequence[str]) -> Sequence[str]:
    """By the worst severity of each."""
    better, worse = (max(map(SEVERITIES.index, mark)) for mark in (high, low))
    return [SEVERITIES[worse]] if better < worse else []


def credited(high: float | None, low: float | None) -> bool:
    return high == 1 and low == 0


def partly_credited(mark: float | None) -> bool:
    return mark not in {None, 0, 1}


def perfect(high: Decimal, low: Decimal) -> bool:
    """Everyone is content with the one, and the other has a mean of 2 or less."""
    return high == 3 and low <= 2


def between_2_and_3(mark: Decimal) -> bool:
    return 2 < mark < 3


def gap(minimum: int) -> Callable[[Any, Any], bool]:
    def better(high: Any, low: Any) -> bool:
        return None not in {high, low} and high - low >= minimum - TOLERANCE

    return better


def number(mark: Any) -> float | None:
    return None if mark is None else float(mark)


def best_by_most(top: int) -> Callable[[Any, Any], bool]:
    """Most of three people gave the one the best rating, and not the other."""

    def better(high: Sequence[int], low: Sequence[int]) -> bool:
        return median(high) == top > median(low)

    return better


TED = [
    Reading(
        "wmt_mqm",
        wmt_mqm(name, 7 if variant is None else 8),
        by_worst if variant == "severity_order" else no_error,
        error_free,
        options={"set_name": f"ted/{name}"} | ({} if variant is None else {"variant": variant}),
    )
    for name in ("ende", "zhen")
    for variant in (None, "severity", "severity_order")
]
TED += [
    Reading(
        "wmt_mqm",
        wmt_mqm_scores(name),
        gap(5),
        number,
        options={"set_name": f"ted/{name}", "variant": "mqm"},
    )
    for name in ("ende", "zhen")
]
OLDER = ["challenge300-outputs.58169e8.tsv", "challenge300-outputs.865708d.tsv"]
"""The first releases of Challenge 300: quoted, and not."""

READINGS = [
    Reading("quiz_design", quiz_design, no_error, error_free),
    Reading(
        "challenge300",
        challenge300("challenge300-outputs.tsv"),
        credited,
        number,
        between=partly_credited,
    ),
    *(
        Reading(
            "challenge300",
            challenge300(name, quoted=name == OLDER[0]),
            credited,
            number,
            origin=name,
            between=partly_credited,
        )
        for name in OLDER
    ),
    Reading("confit_samsum", confit_samsum(None), no_error, error_free),
    Reading("confit_samsum", confit_samsum("Score"), gap(1), number, options={"variant": "gap"}),
    Reading(
        "summeval",
        rated(
            "model_annotations.aligned.paired.jsonl",
            *("expert_annotations", "decoded", ("article", "text")),
        ),
        best_by_most(5),
        fmean,
    ),
    Reading(
        "dialsummeval",
        rated("human_judgment.jsonl", "annotations", "summary", ("dialogue", "dialogue")),
        best_by_most(5),
        fmean,
    ),
    *(
        Reading(
            "frank",
            partial(frank, typed=name == "typed"),
            no_error,
            error_free,
            options={"set_name": name},
        )
        for name in ("factuality", "typed")
    ),
    Reading("goyal_gpt3_news", goyal(packed=True, first=True), gap(2), number),
    Reading(
        "goyal_gpt3_news",
        goyal(packed=False, first=True),
        gap(2),
        number,
        options={"set_name": "loose"},
    ),
    Reading(
        "goyal_gpt3_news",
        goyal(packed=True, first=False),
        gap(2),
        number,
        options={"variant": "every_name"},
    ),
    Reading(
        "simplification",
        simplification(
            "structural_simplicity.csv",
            *("grammaticality", "meaning", "simplicity", "structural_simplicity"),
        ),
        gap(1),
        number,
    ),
    Reading(
        "simplification",
        simplification("simplicity_DA.csv", "fluency", "meaning", "simplicity"),
        gap(10),
        number,
        options={"set_name": "da"},
    ),
    *TED,
    Reading("wmt_qe_2022", wmt_qe, gap(1), number, folder="wmt_mqm/wmt-qe-2022"),
    *(
        Reading(
            "wmt23_mqm_sxs",
            wmt23_mqm_sxs(name),
            no_error,
            error_free,
            options={"set_name": name},
        )
        for name in ("ende", "zhen")
    ),
    Reading("bump", bump, no_error, error_free, constructed=True),
    Reading("summedits", summedits, no_error, error_free, constructed=True),
    Reading("llmbar", llmbar, no_error, error_free, constructed=True),
    Reading("demetr", demetr, no_error, error_free, constructed=True),
    Reading("fib", fib, no_error, error_free),
    Reading("fib", fib_edits, no_error, error_free, options={"variant": "edits"}),
    *(
        Reading(
            "qgeval",
            qgeval(prefix, single=variant is not None),
            perfect if variant is None else best_by_most(3),
            number if variant is None else fmean,
            options=({"set_name": prefix.lower()} if prefix else {})
            | ({"variant": variant} if variant else {}),
            between=between_2_and_3 if variant is None else None,
        )
        for prefix in ("", "SQuAD", "HotpotQA")
        for variant in (None, "majority")
    ),
    *(
        Reading("wmt24_esa", wmt24_esa(name), gap(25), number, options={"set_name": name})
        for name in ("en-cs", "en-hi", "en-ja", "en-zh")
    ),
    Reading(
        "ragtruth",
        faithjudge,
        no_error,
        error_free,
        folder="ragtruth_faithjudge",
        options={"set_name": "faithjudge"},
    ),
    Reading("quintd", quintd, no_error, error_free),
    Reading("d2t_eval", d2t_eval, no_error, error_free),
    Reading("faithbench", faithbench(binary=False), no_error, error_free),
    Reading(
        "faithbench",
        faithbench(binary=True),
        no_error,
        error_free,
        options={"variant": "binary"},
    ),
]
