"""A Trainer of transformers that minimises an objective over pairs."""

from typing import Any

import torch
from transformers import ProgressCallback, Trainer

from nnd.metric.train.losses import Targets, terms, total
from nnd.metric.train.objective import Objective
from nnd.schemas import ScoringError


class PairTrainer(Trainer):
    """A Trainer whose batches come from `examples.Collator`.

    The means of the terms since the last log are logged with the loss.

    Args:
        objective: What is minimised.
        ***options: Options of Trainer.
    """

    loss_is_scaled_for_ga = False  # the loss is a mean over its batch

    def __init__(self, *, objective: Objective, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self._objective = objective
        self._sums: dict[str, tuple[float, int]] = {}

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,  # noqa: FBT001, FBT002 - as the base class has it
        num_items_in_batch: torch.Tensor | int | None = None,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401 - as the base class has it
        """Return the loss of a batch.

        Raises:
            ScoringError: If the loss is not a number.
        """
        targets = Targets(*(inputs[name] for name in Targets._fields))
        read = {name: value for name, value in inputs.items() if name not in Targets._fields}
        outputs = model(**read, use_cache=False)
        logits = outputs.logits[:, -targets.ids.shape[1] :]
        values_of = terms(self._objective, logits, targets)
        loss = total(self._objective, values_of)
        if not torch.isfinite(loss):
            raise ScoringError(
                f"step {self.state.global_step + 1}: the loss is {loss.item()}; train with a "
                "smaller learning rate, or in float32"
            )
        for name, values in values_of.items():
            before, count = self._sums.get(name, (0.0, 0))
            self._sums[name] = before + values.sum().item(), count + values.numel()
        return (loss, outputs) if return_outputs else loss

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log with the means of the terms since the last log."""
        means = {name: value / max(n, 1) for name, (value, n) in self._sums.items()}
        self._sums = {}
        super().log(logs | means, start_time)


class ProgressBar(ProgressCallback):
    """A progress bar that does not print log entries, so that standard output has only results."""

    def on_log(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        """Print nothing."""
