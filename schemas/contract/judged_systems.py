"""What is known about the models behind judged systems (`systems` in source.yaml).

The short form `name: id` is an exact id without a template: the model reads what any model of its
kind reads by itself. `template: null` says that it read something else, which is not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """The model behind a judged system.

    Attributes:
        id: Its Hub id, or None if it is not public or not known.
        adapter: The Hub id of the adapter on it, or None.
        template: The input that it was trained on, with {placeholders} for parts of the context, or
            None if there is none, or it is not known.
        certainty: Whether the source states the id, or it is likely, or a guess.
        evidence: Where the id and the template come from, or why there are none; None in the short
            form.
        billions: The number of its parameters in billions, or None if it is not stated.
        is_template_known: Whether a template of None means that there is none.
    """

    id: str | None
    adapter: str | None = None
    template: str | None = None
    certainty: Literal["exact", "likely", "guess"] = "exact"
    evidence: str | None = None
    billions: float | None = None
    is_template_known: bool = True

    @property
    def checkpoint(self) -> str | None:
        """The Hub id that loads it: that of its adapter, if it has one."""
        return self.adapter or self.id

    @property
    def is_scorable(self) -> bool:
        """Whether its exact checkpoint is public, and it is known what that reads."""
        return self.model_id is not None and self.is_template_known

    @property
    def model_id(self) -> str | None:
        """The checkpoint if it is exact: only then is its result comparable with human scores."""
        return self.checkpoint if self.certainty == "exact" else None


def read_systems(facts: Mapping[str, Any]) -> dict[str, JudgedSystem]:
    """Return the judged systems in a source.yaml, or in the source of a manifest, by name."""
    return {
        name: _read_record(given) if isinstance(given, Mapping) else JudgedSystem(given)
        for name, given in facts["systems"].items()
    }


def _read_record(given: Mapping[str, Any]) -> JudgedSystem:
    is_unknown = "template" in given and given["template"] is None
    return JudgedSystem(**given, is_template_known=not is_unknown)
