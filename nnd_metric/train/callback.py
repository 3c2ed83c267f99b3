"""Watch a training: a callback of transformers' Trainer that scores pairs at fixed intervals.

    trainer.add_callback(NNDCallback(trainer, "quiz_design-nnd", every=500))

It does not change the training: the final weights are, bit for bit, those of the same training
without it. The Trainer logs `nnd/pass_rate` and `nnd/<category>` to the usual places (TensorBoard
puts `train/` before the names); a history file stores them with n and intervals, and `nnd curve`
draws it.

The weights of that step are scored in their own precision: with mixed precision, too, the numbers
are those that `nnd evaluate` gives for a checkpoint of that step. If several processes train, each
with the whole model, the first one scores, and the others wait for it at their next exchange of
gradients, at most for `ddp_timeout` of the TrainingArguments (half an hour by default). Likelihoods
are not stored, because the weights change at every step.

The cost is in the log, in the history, and in a line at the end: with the defaults (1,389 tests of
Quiz Design every 500 steps of 16 texts) 3 % of the time of a small BART on one CPU core.
"""

# ruff: noqa: ARG002 - the base class decides which arguments there are

import copy
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from nnd.metric.data import (
    PairData,
    PairSet,
    choose_contexts,
    choose_splits,
    contexts_of,
    load_pairs,
)
from nnd.metric.likelihood import Engine, Evidence, unwrap, virtual_tokens, wrap_model
from nnd.metric.numbers import pass_rates
from nnd.metric.run import make_signature, score_pairs
from nnd.metric.text import Chat, choose_rendering, find_protocol
from nnd.metric.train.history import (
    HISTORY,
    HistoryEntry,
    describe_cost,
    log_of,
    read_history,
    write_history,
)
from nnd.metric.train.isolation import undisturbed
from nnd.schemas import ScoringError, ScoringWarning

_ZERO_3 = 3  # DeepSpeed's stage in which processes share the weights out


class NNDCallback(TrainerCallback):
    """Scores pairs when training begins, every few optimiser steps, and at the end.

    A callback does not know its Trainer, which is therefore the first argument: make the Trainer,
    then add the callback to it.

    Invalid settings raise an error before the first step. Later problems, such as a model that
    returns NaN, cause a warning, and training continues. Add EarlyStoppingCallback, and others that
    end training at an evaluation, before this callback, so that it can score the end.

    Args:
        trainer: The Trainer that this callback is added to. Its model may have adapters of PEFT
            that change layers, such as LoRA.
        pairs: Pairs (see `data.load_pairs`).
        tokenizer: The model's tokenizer; None means the Trainer's `processing_class`.
        every: Optimiser steps between scorings.
        splits: Splits to score, same as in `evaluate`.
        contexts: Number of contexts to score, with all their pairs: those whose ids have the
            smallest SHA-256, so that every run scores the same. None means all.
        protocol: Which tokens are scored and what they are divided by (see `protocols`).
        template: How contexts are rendered (see `Scoring`).
        chat: How contexts become chats, same as in `evaluate`.
        history: The history file; None means nnd_history.jsonl in the Trainer's output_dir. A new
            training starts a new file; one that resumes from a checkpoint continues the file,
            without the steps after the checkpoint.

    Raises:
        ScoringError: If the pairs, the model or an option cannot be used; the message says why.
    """

    def __init__(
        self,
        trainer: Trainer,
        pairs: PairData | PairSet,
        tokenizer: PreTrainedTokenizerBase | None = None,
        *,
        every: int = 500,
        splits: Sequence[str] = (),
        contexts: int | None = 200,
        protocol: str = "native",
        template: str | None = None,
        chat: Chat = Chat(),
        history: str | Path | None = None,
    ) -> None:
        if every < 1:
            raise ScoringError(
                "option.bad-value", f"every is {every}", remedy="give 1 or more steps"
            )
        if contexts is not None and contexts < 1:
            raise ScoringError(
                "option.bad-value",
                f"contexts is {contexts}",
                remedy="give 1 or more, or None for all",
            )
        whole = choose_splits(pairs if isinstance(pairs, PairSet) else load_pairs(pairs), splits)
        self.pairs = whole if contexts is None else choose_contexts(whole, contexts)
        self.every = every
        self.history = Path(history or Path(trainer.args.output_dir or ".") / HISTORY)
        self._trainer = trainer
        # A tokenizer remembers how it was last called; the training's is left alone.
        self._tokenizer = copy.deepcopy(_tokenizer_of(trainer, tokenizer))
        loaded = wrap_model(_model_of(trainer), self._tokenizer)
        self._template, choice = choose_rendering(
            loaded,
            find_protocol(protocol),
            chat,
            template,
            contexts=contexts_of(self.pairs.pairs),
            instruction=self.pairs.instruction,
            has_contexts=self.pairs.has_contexts,
        )
        self._engine = Engine(
            loaded, protocol=protocol, separator=choice.separator, chat=choice.template
        )
        self._entries: list[HistoryEntry] = []
        self._since = time.perf_counter()  # when training went on
        self._step = -1  # the last that was looked at

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Read the history, and score the initial weights, or those of a step that is due."""
        self._since = time.perf_counter()
        model = _model_of(self._trainer)
        if self._engine.loaded.model is not model:  # a new one by `model_init`
            loaded = wrap_model(model, self._tokenizer)
            self._engine = replace(self._engine, loaded=loaded, evidence=Evidence())
        if state.is_world_process_zero:
            before = read_history(self.history) if self.history.is_file() else []
            self._entries = [entry for entry in before if entry.step < state.global_step]
            if not self._entries or state.global_step % self.every == 0:
                self._watch(state, control)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Score if a scoring is due, or if training ends here."""
        if state.global_step % self.every == 0 or control.should_training_stop:
            self._watch_on(state, control)

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Score if training ends here because another callback, or an evaluation, decided so.

        At the end it is too late: the Trainer may load its best checkpoint, and loggers close.
        """
        if control.should_training_stop:
            self._watch_on(state, control)

    on_evaluate = on_epoch_end  # an evaluation after the end of an epoch may end training

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Report the path of the history, and the cost."""
        if state.is_world_process_zero and self._entries:
            sys.stderr.write(f"nnd: {describe_cost(self._entries)}; `nnd curve {self.history}`\n")

    def _watch_on(self, state: TrainerState, control: TrainerControl) -> None:
        if not state.is_world_process_zero or state.global_step == self._step:
            return
        try:
            self._watch(state, control)
        except Exception as error:  # noqa: BLE001 - models and loggers fail in any way
            reason = str(error) if isinstance(error, ScoringError | OSError) else repr(error)
            warnings.warn(
                f"step {state.global_step}: {reason}; training continues",
                ScoringWarning,
                stacklevel=2,
            )

    def _watch(self, state: TrainerState, control: TrainerControl) -> None:
        self._step = state.global_step
        entry = self._score(state)
        if self._entries and self._entries[-1].recipe != entry.recipe:
            raise ScoringError(
                "train.history",
                "the last entry was made with other options "
                f"({self._entries[-1].signature}, now {entry.signature})",
                self.history,
                "watch as before, or name another file with history=",
            )
        write_history(self.history, [*self._entries, entry])
        self._entries.append(entry)
        due = control.should_log
        # Not a subclass's `log`, which adds its counts since the last loss (TRL), or communicates
        # with other processes, which are not here.
        Trainer.log(self._trainer, log_of(entry))
        control.should_log = due  # `log` takes it back, and the loss of this step may be due
        self._since = time.perf_counter()

    def _score(self, state: TrainerState) -> HistoryEntry:
        model = self._engine.loaded.model
        if model.device.type == "cuda":
            torch.cuda.synchronize(model.device)  # what training still computes is not our time
        start = time.perf_counter()
        with undisturbed(model):
            rates = pass_rates(score_pairs(self.pairs, self._engine, self._template))
        step = state.global_step
        return HistoryEntry.of(
            rates,
            step,
            make_signature(str(step), self.pairs, self._engine, self._template, rates),
            epoch=state.epoch,
            seconds=time.perf_counter() - start,
            training_seconds=start - self._since,
        )


def _model_of(trainer: Trainer) -> PreTrainedModel:
    """Return the trained model, if it can be scored during training."""
    model: PreTrainedModel = unwrap(trainer.model)
    if not (isinstance(model, PreTrainedModel) or virtual_tokens(model)):
        raise ScoringError(
            "train.trainer",
            f"the trainer's model is a {type(model).__name__}, but only a model of "
            "transformers (also with an adapter of PEFT) can be watched",
        )
    deepspeed = getattr(trainer.accelerator.state, "deepspeed_plugin", None)
    if trainer.is_fsdp_enabled or (deepspeed is not None and deepspeed.zero_stage == _ZERO_3):
        raise ScoringError(
            "train.trainer",
            "the model cannot be watched, because it is split over processes (FSDP, or "
            "DeepSpeed's ZeRO-3)",
        )
    return model


def _tokenizer_of(
    trainer: Trainer, tokenizer: PreTrainedTokenizerBase | None
) -> PreTrainedTokenizerBase:
    known = tokenizer or trainer.processing_class
    if not isinstance(known, PreTrainedTokenizerBase):
        raise ScoringError(
            "train.trainer",
            "the trainer has no tokenizer as its processing_class",
            remedy="pass the model's tokenizer to NNDCallback with tokenizer=",
        )
    return known
