"""Train a model to give better candidates of pairs a higher likelihood than worse ones.

    train("gpt2", "quiz_design-nnd", out="gpt2-quiz", tests=["frank-nnd"])

The trained likelihood is the scored one: contexts and candidates are encoded as in `evaluate` with
the protocol native. Contexts of the test are not used for training.
"""

# ruff: noqa: ARG002 - the base class decides which arguments there are

import functools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import (
    PreTrainedTokenizerBase,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from nnd.metric.data import PairData, contexts_of
from nnd.metric.likelihood import LoadedModel, Loading, Scoring
from nnd.metric.numbers import CLUSTER, compare
from nnd.metric.run import evaluate
from nnd.metric.text import Chat, check_template, choose_rendering, find_protocol
from nnd.metric.train.callback import NNDCallback
from nnd.metric.train.corpora import has_worse
from nnd.metric.train.history import HISTORY
from nnd.metric.train.objective import Lora, Objective, Schedule
from nnd.metric.train.pair_batches import Example, make_examples
from nnd.metric.train.pair_trainer import make_arguments, make_trainer
from nnd.metric.train.recipe import Recipe, UntrainedModel, VersionedName
from nnd.metric.train.seeds import TrainedSeeds, train_seeds
from nnd.metric.train.subject import add_lora, find_subject
from nnd.metric.train.trained import LoggedLoss, TrainedModel, TrainingCounts, TrainingFacts
from nnd.metric.train.training_folder import CHECKPOINTS, TrainingPlace, check_place, training_place
from nnd.metric.train.training_sides import Sides, take_sides
from nnd.metric.train.transfer_notes import circularity
from nnd.schemas import ScoringError

_SCORINGS = 10  # scorings of the held-out pairs during training


def train(
    model: Any,  # noqa: ANN401 - a model of transformers or of PEFT, which share no type
    data: PairData,
    *,
    out: str | Path,
    tokenizer: PreTrainedTokenizerBase | None = None,
    sets: Sequence[str] = (),
    tests: Sequence[PairData] = (),
    every: int | None = None,
    protocol: str = "native",
    split: float = 0.8,
    split_seed: int = 0,
    template: str | None = None,
    chat: Chat = Chat(),
    resume: bool = False,
    objective: Objective = Objective(),
    lora: Lora = Lora(),
    schedule: Schedule = Schedule(),
    repeats: int = 1,
    loading: Loading = Loading(dtype="float32"),
) -> TrainedModel | TrainedSeeds:
    """Train a model on pairs, and test it before and after.

    The model learns to give better candidates a higher likelihood. It is tested before and after on
    held-out contexts, and on other data if given. The trained likelihood is the one that `nnd
    evaluate` computes.

    Args:
        model: Hub id, NAME or NAME@REVISION, or folder of a causal or encoder-decoder language
            model. In Python, it can be a loaded model, which is trained in place, or its adapters
            of PEFT if it has some.
        data: Training data: a converted folder, a Parquet file or its URL, ORG/name[@revision] on
            the Hub, or a built-in source. For the loss mle, it can be a table (.csv, .tsv, .json,
            .jsonl or .parquet) of contexts and references: columns context and reference, or
            references. In Python, it can be a table in memory.
        out: Folder for the model or its adapters, the runs before and after, the history of the
            pass rate, and training.json.
        tokenizer: In Python, the tokenizer of a loaded model.
        sets: Sets of a suite to train on, each pair once. Empty means the human pairs.
        tests: Other data to test on. References need some.
        every: Optimiser steps between two tests during training, on held-out contexts or, without
            them, on the first of the other data. None means a tenth of all steps.
        protocol: Protocol of the tests, as of `evaluate`; training always is by the native one.
        split: About this share of the contexts is used for training. References are all used.
        split_seed: Seed of the split by context.
        template: How contexts are rendered: the name of a template, or your own: "Q: {question}".
            None means instruction for chats, default for plain text.
        chat: How contexts become chats.
        resume: Whether to resume an interrupted training in the output folder. In Python, a loaded
            model must be the same as at the start, so initialise its adapters with a seed.
        objective: The loss.
        lora: The adapters to train, if any.
        schedule: Duration and learning rate.
        repeats: Train this many times, with the seed and the next ones, each in a folder SEED of
            `out`, and report the mean and the spread.
        loading: How the model is loaded; in bfloat16 small updates get lost.

    Returns:
        The model compared before and after; with `repeats`, that of each seed.

    Raises:
        ScoringError: If the data, the model or an option cannot be used, a test has a context that
            is used for training, or the loss is not a number; the message says which.
        NNDError: If `out` holds something else, or a side of the split is empty.

    Examples:
        nnd train --model gpt2 --data quiz_design --test frank --out gpt2-quiz
        nnd train --model gpt2 --data my_suite --set negation --set numbers --out new
        nnd train --model gpt2 --data quiz_design --lora-rank 16 --out gpt2-lora
        nnd train --model gpt2 --data quiz_design --repeats 3 --out gpt2-seeds
    """
    out = Path(out)
    if repeats != 1:
        return train_seeds(
            functools.partial(
                train,
                model,
                data,
                tokenizer=tokenizer,
                sets=sets,
                tests=tests,
                every=every,
                protocol=protocol,
                split=split,
                split_seed=split_seed,
                template=template,
                chat=chat,
                objective=objective,
                lora=lora,
                loading=loading,
            ),
            schedule,
            objective,
            repeats,
            out,
            resume=resume,
            is_loaded=not isinstance(model, str | Path),
        )
    check_place(out, resume=resume)
    if isinstance(model, str | Path) and str(model).endswith(".gguf"):
        raise ScoringError(
            "model.quantised", "a GGUF file is quantised and cannot be trained", model
        )
    if template is not None:
        check_template(template)
    if every is not None and every < 1:
        raise ScoringError("option.bad-value", f"every is {every}", remedy="give 1 or more steps")
    find_protocol(protocol)
    sides = take_sides(data, sets, tests, share=split, seed=split_seed)
    if objective.loss != "mle" and not has_worse(sides.training):
        raise ScoringError(
            "train.no-texts",
            f"has references but no worse texts, which the loss {objective.loss} needs",
            sides.training.title,
            "train with --loss mle, or on pairs",
        )
    arguments = make_arguments(out / CHECKPOINTS, schedule, loading.device)
    subject = find_subject(model, tokenizer, loading, arguments.device)
    if lora.rank is not None:
        subject, lora = add_lora(subject, lora, schedule.seed, model)
    rendering, read = choose_rendering(
        subject.loaded,
        find_protocol("native"),
        chat,
        template,
        contexts=contexts_of(sides.training.pairs),
        instruction=sides.training.instruction,
        has_contexts=sides.training.has_contexts,
    )
    examples = make_examples(subject.loaded, sides.training, rendering, read, objective)
    if not examples:
        raise ScoringError(
            "train.no-texts",
            "no pair has two candidates with tokens to train on, and no reference has any",
            sides.training.title,
        )
    recipe = Recipe(
        model=UntrainedModel(subject.loaded.name, subject.loaded.version(), subject.loaded.dtype),
        data=VersionedName(sides.training.title, sides.training.version),
        tests=tuple(VersionedName(each.title, each.version) for each in sides.tests),
        split=None if sides.held_out is None else split,
        split_seed=split_seed,
        objective=objective,
        schedule=schedule,
        template=rendering.name,
        chat=read.stored().template,
        lora=lora,
    )
    scoring = Scoring(protocol, template, chat=chat, unconditional=False)
    scored_every = every or max(1, schedule.steps_on(len(examples)) // _SCORINGS)
    with training_place(out, recipe.to_dict(), resume=resume) as place:
        arguments.output_dir = str(place.staging)
        before = _evaluate(subject.loaded, sides, scoring, out / "before")
        trainer = make_trainer(subject, examples, objective, arguments)
        trainer.add_callback(_Keeper(place))
        trainer.add_callback(
            NNDCallback(
                trainer,
                sides.held_out or sides.tests[0],
                every=scored_every,
                protocol=protocol,
                template=template,
                chat=chat,
                history=out / HISTORY,
            )
        )
        start = time.perf_counter()
        trainer.train(resume_from_checkpoint=place.checkpoint())
        logs = trainer.state.log_history
        facts = TrainingFacts(
            signature=recipe.signature(len(examples)),
            recipe=recipe,
            device=str(arguments.device),
            steps=trainer.state.global_step,
            seconds=time.perf_counter() - start,
            counts=_count(sides, examples, objective),
            losses=tuple(LoggedLoss.from_dict(each) for each in logs if "loss" in each),
        )
        after = _evaluate(subject.trained(str(out)), sides, scoring, out / "after")
        cautions = circularity(sides.training, sides.tests)
        trained = TrainedModel(out, facts, tuple(cautions), compare([*before, *after]))
        subject.save(place.staging / "final")
        place.finish(place.staging / "final", trained.to_dict())
    return trained


class _Keeper(TrainerCallback):
    """Moves each checkpoint to its place when it is written."""

    def __init__(self, place: TrainingPlace) -> None:
        self._place = place

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        self._place.keep_checkpoint(state.global_step)


def _evaluate(loaded: LoadedModel, sides: Sides, scoring: Scoring, folder: Path) -> list[Path]:
    sweep = evaluate(loaded, list(sides.tests), out=folder, scoring=scoring)
    for failure in sweep.failures:
        raise ScoringError("worker.failed", failure.reason, failure.dataset)
    return list(sweep.folders.values())


def _count(sides: Sides, examples: Sequence[Example], objective: Objective) -> TrainingCounts:
    (pairs, contexts), (held_out_pairs, held_out_contexts) = (
        (0, 0) if side is None else (side.pairs.height, side.pairs.select(CLUSTER).n_unique())
        for side in (sides.training, sides.held_out)
    )
    counts_tokens = objective.loss == "unlikelihood"
    return TrainingCounts(
        pairs=pairs,
        contexts=contexts,
        held_out_pairs=held_out_pairs,
        held_out_contexts=held_out_contexts,
        examples=len(examples),
        truncated=sum(each.high.truncated for each in examples),
        negative_tokens=sum(sum(e.negative) for e in examples) if counts_tokens else None,
        by_set=sides.by_set,
    )
