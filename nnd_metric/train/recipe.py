"""The recipe of a training: everything that the trained model depends on."""

from dataclasses import dataclass
from typing import Annotated

from nnd.metric.run import VERSION
from nnd.metric.text import NONE
from nnd.metric.train.objective import Lora, Objective, Schedule
from nnd.schemas import SPARSE, Limit, Name, Record, one_line


@dataclass(frozen=True, slots=True)
class VersionedName(Record):
    """Pairs.

    Attributes:
        name: Their name.
        version: What they are: a Hub commit, or a SHA-256 of their content.
    """

    name: Name
    version: Name

    def __str__(self) -> str:
        return f"{self.name}@{self.version[:7]}"


@dataclass(frozen=True, slots=True)
class UntrainedModel(VersionedName):
    """The model before training.

    Attributes:
        name: Its name.
        version: What it is: a Hub commit, or a SHA-256 of its content.
        dtype: Precision of its weights while it is trained.
    """

    dtype: Name


@dataclass(frozen=True, slots=True)
class Recipe(Record):
    """The recipe of a training.

    Attributes:
        model: The model before training.
        data: The pairs or the references that it is trained on.
        tests: What it is tested on before and after; first the held-out contexts of the same data.
        split: About this share of the contexts is trained on; null for references, which are all
            trained on.
        split_seed: Seed of the split.
        objective: What is minimised.
        schedule: How long and how fast.
        template: Name or text of the template of contexts.
        chat: The first digits of the SHA-256 of the chat template with its arguments and system
            text; none if contexts are read as plain text.
        lora: The adapters that are trained in place of the model's own weights, if any.
    """

    model: UntrainedModel
    data: VersionedName
    tests: Annotated[tuple[VersionedName, ...], Limit("minItems", 1)]
    split: Annotated[float, Limit("exclusiveMinimum", 0), Limit("exclusiveMaximum", 1)] | None
    split_seed: int
    objective: Objective
    schedule: Schedule
    template: Name
    chat: Annotated[str, Limit("pattern", "^(none|[0-9a-f]{8})$")]
    lora: Annotated[Lora, SPARSE] = Lora()

    def signature(self, n: int) -> str:
        """Return one line that names everything the trained model depends on.

        `n` is the number of distinct pairs to train on.
        """
        objective, schedule, lora = self.objective, self.schedule, self.lora
        is_margin, counts_tokens = objective.loss == "margin", objective.loss == "unlikelihood"
        parts = {
            "v": VERSION,
            "model": self.model,
            "data": self.data,
            "split": None if self.split is None else f"{self.split:g}",
            "split-seed": None if self.split is None else self.split_seed,
            "loss": objective.loss,
            "alpha": f"{objective.weight:g}",
            "tokens": objective.negative_tokens if counts_tokens else None,
            "margin": f"{objective.margin:g}" if is_margin else None,
            "template": self.template,
            "chat": None if self.chat == NONE else self.chat,
            "dtype": self.model.dtype,
            "steps": schedule.steps or f"{schedule.epochs:g}ep",
            "batch": schedule.batch_size,
            "accumulation": schedule.accumulation if schedule.accumulation > 1 else None,
            "lr": f"{schedule.learning_rate:g}",
            "seed": schedule.seed,
            "lora": lora.rank,
            "lora-alpha": f"{lora.scale:g}" if lora.rank else None,
            "lora-dropout": f"{lora.dropout:g}" if lora.dropout else None,
            "lora-targets": "+".join(lora.targets) or None,
            "n": n,
        }
        listed = (f"{name}:{value}" for name, value in parts.items() if value is not None)
        return one_line("|".join(["nnd-train", *listed]))
