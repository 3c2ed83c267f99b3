"""Run transformers' Trainer: its model, its arguments, and its logs."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import (
    PreTrainedTokenizerBase,
    PrinterCallback,
    ProgressCallback,
    TrainingArguments,
)

from nnd.metric.likelihood import (
    LoadedModel,
    Loading,
    load_model,
    unwrap,
    virtual_tokens,
    wrap_model,
)
from nnd.metric.train.objective import Objective, Schedule
from nnd.metric.train.pair_batches import Collator, Example
from nnd.metric.train.pair_trainer import PairTrainer, ProgressBar
from nnd.metric.train.trained import LoggedLoss
from nnd.schemas import ScoringError

_SAVED = 0.1  # a checkpoint after each tenth of the steps
_LOGGED = 0.05


class Subject(NamedTuple):
    """The model that is trained.

    Attributes:
        model: The model for Trainer, with PEFT's wrapper if any.
        loaded: The model itself, for scoring.
    """

    model: Any
    loaded: LoadedModel

    def save(self, folder: Path) -> None:
        """Write the model, or its adapters, and the tokenizer for `from_pretrained`."""
        self.model.save_pretrained(folder)
        self.loaded.tokenizer.save_pretrained(folder)


def find_subject(
    model: Any,  # noqa: ANN401 - a model of transformers or of PEFT, which share no type
    tokenizer: PreTrainedTokenizerBase | None,
    loading: Loading,
    device: torch.device,
) -> Subject:
    """Return the model for a name, or for a loaded model with its tokenizer, on a device.

    Raises:
        ScoringError: If it cannot be loaded, or is not a language model.
    """
    if isinstance(model, str | Path):
        if tokenizer is not None:
            raise ScoringError("a named model has its own tokenizer; leave out tokenizer")
        loaded = load_model(model, replace(loading, device=str(device)))
        return Subject(loaded.model, loaded)
    if tokenizer is None:
        raise ScoringError("a loaded model needs its tokenizer; pass it with tokenizer=")
    inner = unwrap(model)
    if virtual_tokens(inner):
        raise ScoringError(
            f"the adapter ({inner.active_peft_config.peft_type.value}) puts prompts before the "
            "text instead of changing layers, and such models cannot be trained; use LoRA"
        )
    return Subject(model, wrap_model(inner.to(device), tokenizer))


def make_arguments(folder: Path, schedule: Schedule, device: str | None) -> TrainingArguments:
    """Return Trainer's arguments.

    Args:
        folder: Folder for its checkpoints.
        schedule: Duration and learning rate.
        device: Same as in `Loading`; None means the first available one.

    Raises:
        ScoringError: If Trainer cannot train on that device.
    """
    on_cpu = device is not None and torch.device(device).type == "cpu"
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=schedule.epochs,
        max_steps=schedule.steps or -1,
        per_device_train_batch_size=schedule.batch_size,
        learning_rate=schedule.learning_rate,
        seed=schedule.seed,
        save_steps=_SAVED,
        save_total_limit=1,
        logging_steps=_LOGGED,
        report_to="none",
        remove_unused_columns=False,
        use_cpu=on_cpu,
        dataloader_pin_memory=not on_cpu and torch.cuda.is_available(),
        disable_tqdm=not sys.stderr.isatty(),
    )
    used = arguments.device
    arguments._n_gpu = min(arguments.n_gpu, 1)  # noqa: SLF001 - else copies on all devices
    if device is not None and torch.device(device) not in (used, torch.device(used.type)):
        raise ScoringError(
            f'device "{device}": training would be on {used}; choose a GPU with '
            "CUDA_VISIBLE_DEVICES"
        )
    return arguments


def make_trainer(
    subject: Subject,
    examples: Sequence[Example],
    objective: Objective,
    arguments: TrainingArguments,
) -> PairTrainer:
    """Return a Trainer for pairs that prints nothing, with a progress bar for terminals."""
    # Trainer writes this into the model's config, which is saved; batches never use a cache.
    arguments.use_cache = getattr(subject.loaded.model.config, "use_cache", False)
    trainer = PairTrainer(
        objective=objective,
        model=subject.model,
        args=arguments,
        train_dataset=examples,
        data_collator=Collator(subject.loaded, with_low=bool(objective.weight)),
        processing_class=subject.loaded.tokenizer,
    )
    trainer.remove_callback(PrinterCallback)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(ProgressBar)
    return trainer


def losses_of(trainer: PairTrainer) -> tuple[LoggedLoss, ...]:
    """Return the loss and its terms, as logged during training."""
    return tuple(LoggedLoss.from_dict(log) for log in trainer.state.log_history if "loss" in log)
