"""A Trainer of transformers that minimises an objective over pairs."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, ProgressCallback, Trainer, TrainingArguments

from nnd.metric.train.losses import Targets, counts, sums, total
from nnd.metric.train.objective import Objective, Schedule
from nnd.metric.train.pair_batches import Collator, Example
from nnd.metric.train.subject import Subject
from nnd.schemas import ScoringError

_SAVED = 0.1  # a checkpoint after each tenth of the steps
_LOGGED = 0.05


class PairTrainer(Trainer):
    """A Trainer that minimises an objective on batches from `pair_batches.Collator`.

    The means of the terms since the last log are logged with the loss.
    """

    loss_is_scaled_for_ga = True  # the losses of a step's batches add up to that of the step

    def __init__(self, *, objective: Objective, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self._objective = objective
        self._n_of_step = Counter[str]()
        self._sums, self._n = defaultdict[str, float](float), Counter[str]()

    def get_batch_samples(
        self, epoch_iterator: Iterator[Any], num_batches: int, device: torch.device
    ) -> Any:  # noqa: ANN401 - as the base class has it
        """Return the batches of an optimiser step, whose tokens and pairs are counted."""
        batches, _ = super().get_batch_samples(epoch_iterator, num_batches, device)
        each = (counts(self._objective, _targets(batch)) for batch in batches)
        self._n_of_step = sum(each, Counter[str]())
        return batches, None

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,  # noqa: FBT001, FBT002 - as the base class has it
        num_items_in_batch: torch.Tensor | int | None = None,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401 - as the base class has it
        """Return the loss of a batch, as its part of the loss of the optimiser step."""
        targets = _targets(inputs)
        read = {name: value for name, value in inputs.items() if name not in Targets._fields}
        outputs = model(**read, use_cache=False)
        logits = outputs.logits[:, -targets.ids.shape[1] :]
        found = sums(self._objective, logits, targets)
        loss = total(self._objective, found, self._n_of_step)
        if not torch.isfinite(loss):
            raise ScoringError(
                "train.diverged", f"the loss is {loss.item()}", f"step {self.state.global_step + 1}"
            )
        self._n += counts(self._objective, targets)
        for name, value in found.items():
            self._sums[name] += value.item()
        return (loss, outputs) if return_outputs else loss

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log with the means of the terms since the last log."""
        means = {name: value / max(self._n[name], 1) for name, value in self._sums.items()}
        self._sums.clear()
        self._n.clear()
        super().log(logs | means, start_time)


def _targets(batch: dict[str, Any]) -> Targets:
    return Targets(*(batch[name] for name in Targets._fields))


class ProgressBar(ProgressCallback):
    """A progress bar that does not print log entries, so that standard output has only results."""

    def on_log(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        """Print nothing."""


def make_arguments(folder: Path, schedule: Schedule, device: str | None) -> TrainingArguments:
    """Return Trainer's arguments."""
    on_cpu = device is not None and torch.device(device).type == "cpu"
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=schedule.epochs,
        max_steps=schedule.steps or -1,
        per_device_train_batch_size=schedule.batch_size,
        gradient_accumulation_steps=schedule.accumulation,
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
    chosen = arguments.device
    arguments._n_gpu = min(arguments.n_gpu, 1)  # noqa: SLF001 - else copies on all devices
    if device is not None and torch.device(device) not in (chosen, torch.device(chosen.type)):
        raise ScoringError(
            "option.conflict",
            f"training would be on {chosen}",
            f'device "{device}"',
            "choose a GPU with CUDA_VISIBLE_DEVICES",
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
        data_collator=Collator(subject.loaded),
        processing_class=subject.loaded.tokenizer,
    )
    trainer.remove_callback(PrinterCallback)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(ProgressBar)
    return trainer
