"""One model on the same pairs under several choices, one dimension at a time.

Each choice is a separate evaluation whose likelihoods are stored: a second time, or after an
evaluation of the default, a choice costs little more than loading the model.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from tqdm import tqdm

from nnd.metric.data import PairData, PairSet
from nnd.metric.likelihood import LoadedModel, Loading, Model, Scoring, load_model, pin_version
from nnd.metric.numbers import adjust, find_flips
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.run_request import PartOptions, RunRequest, with_run_options
from nnd.metric.run.sweep import evaluate
from nnd.metric.run.variation.choices import Choice, Dimension, check_dimensions, choices_of
from nnd.metric.run.variation.rewording import reword
from nnd.metric.run.variation.variation import VARIATION, Default, LeftOut, Variant, Variation
from nnd.schemas import ScoringError, check_replaceable


@with_run_options
def vary(
    model: Model,
    data: PairData | PairSet,
    dimensions: Sequence[Dimension],
    *,
    out: str | Path | None = None,
    **options: Unpack[PartOptions],
) -> Variation:
    """Score pairs under several choices; count flipped verdicts.

    One dimension is varied at a time; the other options define the default.

    Args:
        model: Hub id, NAME or NAME@REVISION, or folder of a model or an adapter. In Python, a
            loaded model, too.
        data: The pairs; sets of a suite are ignored.
        dimensions: Score one model under other choices too, one dimension at a time, and count the
            verdicts that flip: protocol, template (the instruction, two paraphrases, the stored
            context), chat-template, dtype, separator, normalise (how texts are written).
        out: Folder for variation.json and choices.parquet, the log-likelihoods of every choice.
        **options: The other fields of `RunRequest`.

    Returns:
        For every choice the pass rate, and the share of verdicts that differ from the default's.

    Raises:
        ScoringError: If a dimension is unknown, or the default cannot be scored. A choice that
            cannot be scored is left out, and the result gives the reason.
        NNDError: If `out` holds anything that nnd did not write, or cannot be written.
    """
    dimensions = list(dict.fromkeys(dimensions))
    check_dimensions(dimensions)
    request = RunRequest(model, data, **options)
    scoring = replace(request.scoring, unconditional=False)
    scoring.check()
    if out is not None:
        check_replaceable(Path(out), document=VARIATION)
    pairs = replace(request.part_of(request.load(data)), sets=())
    found = _score_all(model, pairs, dimensions, scoring, request.loading)
    if out is not None:
        found.write(out)
    return found


def _score_all(
    model: Model,
    pairs: PairSet,
    dimensions: Sequence[str],
    scoring: Scoring,
    loading: Loading,
) -> Variation:
    loaded = model if isinstance(model, LoadedModel) else load_model(model, loading)
    loaded = pin_version(loaded, remember=not isinstance(model, LoadedModel) and scoring.cache)
    base = Choice("default", "default", scoring, loading, instruction=pairs.instruction)
    defaults: dict[str, str] = {}
    choices: list[Choice] = []
    left_out: list[LeftOut] = []
    for name in dimensions:
        try:
            defaults[name], others = choices_of(name, base, loaded)
        except ScoringError as error:
            left_out.append(LeftOut(name, None, error.what))
        else:
            choices += others
    default = _score(loaded, pairs, base)
    done: dict[int, Variant] = {}
    # Those with the default loading come first, to load it once.
    ordered = sorted(enumerate(choices), key=lambda numbered: numbered[1].loading != loading)
    with tqdm(total=len(choices), unit="choice", disable=None, leave=False) as bar:
        for number, choice in ordered:
            bar.set_description(f"{choice.dimension}: {choice.name}")
            try:
                if choice.loading != loading:
                    loaded = pin_version(_load_again(model, choice.loading), remember=scoring.cache)
                scored = _score(loaded, pairs, choice)
            except Exception as error:  # noqa: BLE001 - models and their own code fail in any way
                reason = str(error) if isinstance(error, ScoringError) else repr(error)
                left_out.append(LeftOut(choice.dimension, choice.name, reason))
            else:
                done[number] = _variant(choice, default, scored)
            bar.update()
    (result,) = default.results
    rate = result.rates.overall
    return Variation(
        result.model,
        default.data,
        Default(
            choices=defaults,
            n=rate.n,
            pass_rate=rate.pass_rate,
            interval=rate.interval,
            signature=result.signature,
            scored=default,
        ),
        tuple(adjust([done[number] for number in sorted(done)])),
        tuple(left_out),
    )


def _variant(choice: Choice, default: Evaluation, scored: Evaluation) -> Variant:
    (result,) = scored.results
    return Variant.extend(
        find_flips(default.scored, scored.scored),
        dimension=choice.dimension,
        choice=choice.name,
        rate_interval=result.rates.overall.interval,
        signature=result.signature,
        scored=scored,
    )


def _load_again(model: Model, loading: Loading) -> LoadedModel:
    if isinstance(model, LoadedModel):
        raise ScoringError(
            "option.needs-another",
            "this choice needs to load the model",
            remedy="name its folder or Hub id instead of passing a loaded model",
        )
    return load_model(model, loading)


def _score(loaded: LoadedModel, pairs: PairSet, choice: Choice) -> Evaluation:
    worded = reword(replace(pairs, human_scores=None), choice.wording)
    return evaluate(loaded, worded, scoring=choice.scoring, loading=choice.loading)
