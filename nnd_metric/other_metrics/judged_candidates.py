"""Candidates with their human judgements, read from a converted folder for meta-evaluation.

The judgement of a candidate under an aspect is one number, higher is better: its score (rules
`credit`, `gap`), the mean or median of its ratings (if the rule reads these), or 1 if its only
label is an error-free one and else 0 (`no_error`, `order`). If people gave scores in addition to
such labels, as in MetaSAMSum and FRANK, the score is used, because it is finer than 1 or 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data import (
    PairSet,
    choose_splits,
    context_languages,
    contexts_of,
    load_pairs,
    with_clusters,
)
from nnd.metric.numbers import labels_by_value
from nnd.metric.other_metrics.scorers.references import (
    match_references,
    read_references,
    references_in,
)
from nnd.metric.other_metrics.scorers.scorer import Text
from nnd.schemas import (
    MANIFEST,
    ScoringError,
    check_known,
    find_frame,
    read_manifest,
    read_ratings,
    rule_of,
)

CANDIDATE = ("split", "candidate_id")
_CONTEXT = ("split", "context_id", "context", "inputs", "category", "language")
_CANDIDATE = ("candidate_id", "candidate", "system")
_NEEDED = (*_CONTEXT, *_CANDIDATE, "aspect", "label", "score", "ratings")
_BY_SCORE = {"rule": "gap"}


@dataclass(frozen=True, slots=True)
class JudgedCandidates:
    """Pairs, their candidates, and the human judgements.

    Attributes:
        pairs: The NND pairs, with the human scores of systems.
        candidates: Every candidate once: split, context_id, context, inputs, category, language,
            cluster (null: context_id), candidate_id, candidate, system (null if no annotation names
            it), context_language.
        human: The judgements: split, candidate_id, aspect, human (null without a judgement).
        definition: A description of the judgement, in words.
        aspect: The requested aspect, or None.
        references: References of the contexts (`read_references`), or None.
        reliability: Aspect → Krippendorff's alpha of its annotators; without those whom one
            annotator judged.
    """

    pairs: PairSet
    candidates: pl.DataFrame
    human: pl.DataFrame
    definition: str
    aspect: str | None = None
    references: pl.DataFrame | None = None
    reliability: Mapping[str, float] = field(default_factory=dict)

    def texts(self, references: pl.DataFrame | None = None) -> list[Text]:
        """Return the candidates in order, in the form that scorers read.

        Given references (`read_references`) replace those of the data: its own references, else
        those among the contexts' parts.
        """
        contexts = contexts_of(self.candidates)
        table = self.references if references is None else references
        known = (
            [references_in(context.parts) for context in contexts]
            if table is None
            else match_references(self.candidates, table)
        )
        return [
            Text(
                candidate,
                context.text,
                context.parts,
                its_references,
                context.kinds,
                context.language,
                context.context_language,
            )
            for candidate, context, its_references in zip(
                self.candidates["candidate"], contexts, known, strict=True
            )
        ]


def read_judged(
    folder: str | Path, *, aspect: str | None = None, splits: Sequence[str] | None = ()
) -> JudgedCandidates:
    """Read a folder that `nnd convert` wrote, or a downloaded published one.

    Only pairs and judgements of the aspect are kept, but all candidates; the splits are as in
    `choose_splits`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ScoringError("data.not-converted", "not a folder", folder)
    pairs = choose_splits(load_pairs(folder), splits)
    annotations = find_frame(folder, "annotations")
    if annotations is None:
        raise ScoringError("data.convert-again", "annotations.parquet not found", folder)
    missing = [name for name in _NEEDED if name not in annotations.columns]
    if missing:
        raise ScoringError(
            "data.convert-again", f"column {missing[0]} is missing", folder / "annotations.parquet"
        )
    try:
        manifest = read_manifest(folder)
        quality = manifest["source"]["quality"]
    except (KeyError, TypeError) as error:
        raise ScoringError(
            "data.convert-again", f"the quality rule is missing ({error!r})", folder / MANIFEST
        ) from error
    annotations = with_clusters(annotations, pairs.cluster)
    rules = number_rules(annotations, quality)
    human = human_judgements(annotations, rules)
    if "split" in dict(pairs.part):
        of_splits = pl.col("split").is_in([*pairs.splits])
        human, annotations = human.filter(of_splits), annotations.filter(of_splits)
    if aspect is not None:
        known = sorted(human["aspect"].unique())
        check_known("aspect", [aspect], known, family=ScoringError)
        human = human.filter(pl.col("aspect") == aspect)
        pairs = replace(pairs, pairs=pairs.pairs.filter(pl.col("aspect") == aspect))
    stored = find_frame(folder, "references")
    return JudgedCandidates(
        pairs,
        _candidates(annotations, pairs.pairs),
        human,
        _define_judgement({name: rules[name] for name in sorted(human["aspect"].unique())}),
        aspect,
        None if stored is None else read_references(stored),
        {
            name: each["alpha"]
            for name, each in manifest.get("agreement", {}).items()
            if aspect in (None, name) and each["alpha"] is not None
        },
    )


def number_rules(
    annotations: pl.DataFrame, quality: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    """Return aspect → the rule that gives a candidate its number."""
    scored = annotations.drop_nulls("score")["aspect"].unique()
    rules = {}
    for aspect in annotations["aspect"].unique(maintain_order=True):
        rule = rule_of(quality, aspect)
        is_by_label = rule["rule"] in ("no_error", "order")
        rules[aspect] = _BY_SCORE if is_by_label and aspect in scored else rule
    return rules


def human_judgements(
    annotations: pl.DataFrame, rules: Mapping[str, Mapping[str, Any]]
) -> pl.DataFrame:
    """Return one number per candidate and aspect.

    The columns are split, candidate_id, aspect and human (Float64, null without a judgement).
    """
    human = pl.concat(
        _judge(annotations.filter(pl.col("aspect") == aspect), rule)
        for aspect, rule in rules.items()
    )
    odd = human.filter(~pl.col("human").is_finite())
    if odd.height:
        row = odd.row(0, named=True)
        raise ScoringError(
            "cell.not-finite",
            f"the human judgement is {row['human']}",
            f"candidate {row['candidate_id']}, {row['aspect']}",
            "it must be finite, or null if missing",
        )
    return human


def _judge(annotations: pl.DataFrame, rule: Mapping[str, Any]) -> pl.DataFrame:
    key, rows = (*CANDIDATE, "aspect"), annotations
    judgement, _ = _number_by(rule)
    if "ratings" in judgement.meta.root_names():
        rows = read_ratings(
            annotations, at_least=rule.get("at_least", 1), standardise="standardise" in rule
        )
    judged = rows.group_by(key).agg(human=judgement)
    candidates = annotations.select(key).unique(maintain_order=True)
    return candidates.join(judged, on=key, how="left", maintain_order="left")


def _number_by(rule: Mapping[str, Any]) -> tuple[pl.Expr, str]:
    """Return the number that a rule gives to a candidate, and what it is in words."""
    match rule["rule"]:
        case "credit" | "gap" if "ratings" not in rule:
            return pl.col("score").cast(pl.Float64).mean(), "the candidate's score"
        case "credit" | "gap" | "majority":
            ratings = pl.col("ratings").list
            is_median = rule.get("ratings") == "median"
            number = ratings.median() if is_median else ratings.mean()
            kind = "standardised ratings" if "standardise" in rule else "ratings"
            words = f"the {'median' if is_median else 'mean'} of the candidate's {kind}"
            return number.cast(pl.Float64).mean(), words
        case "no_error":
            label = rule["no_error"]
            words = f'1 if "{label}" is the only label of the candidate, 0 otherwise'
            return _is_clean([label]), words
        case "order":
            worse = {low for _, low in rule["better"]}
            best = sorted({high for high, _ in rule["better"]} - worse)
            names = ", ".join(f'"{label}"' for label in best)
            words = f"1 if all labels of the candidate are among {names}, 0 otherwise"
            return _is_clean(best), words
        case unknown:
            raise ScoringError("data.convert-again", f'unknown quality rule "{unknown}"')


def _define_judgement(rules: Mapping[str, Mapping[str, Any]]) -> str:
    """Describe the number of `human_judgements`, by aspect if rules differ."""
    by_words = labels_by_value({aspect: _number_by(rule)[1] for aspect, rule in rules.items()})
    if len(by_words) == 1:
        return next(iter(by_words))
    return "; ".join(f"{', '.join(names)}: {words}" for words, names in by_words.items())


def _is_clean(labels: Sequence[str]) -> pl.Expr:
    label = pl.col("label").drop_nulls()
    clean = label.is_in(list(labels)).all().cast(pl.Float64)
    return pl.when(label.len() > 0).then(clean)


def _candidates(annotations: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates of the annotations, and those that only pairs have, each once."""
    texts = (("candidate_id", "{}_id"), ("candidate", "candidate_{}"))
    sides = [
        pairs.select(
            *_CONTEXT,
            "cluster",
            *(pl.col(column.format(side)).alias(name) for name, column in texts),
            system=pl.lit(None, pl.String),
            context_language=context_languages(pairs),
        )
        for side in ("high", "low")
    ]
    candidates = pl.concat(
        [
            annotations.select(
                *(*_CONTEXT, "cluster", *_CANDIDATE),
                context_language=context_languages(annotations),
            ),
            *sides,
        ],
        how="vertical_relaxed",
    )
    return candidates.unique(CANDIDATE, keep="first", maintain_order=True)
