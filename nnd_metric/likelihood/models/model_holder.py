"""The choice of a model, and a holder of the last one, so that it is loaded once."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeAlias

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.likelihood.models.load_model import load_model, wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.loading import Loading
from nnd.metric.likelihood.models.model_files import file_state, places_read
from nnd.metric.likelihood.models.pinned_weights import pin_version
from nnd.schemas import ScoringError

Choice: TypeAlias = LoadedModel | str | Path | list[str | Path]


class ModelHolder:
    """Has a default model, and holds only the last one loaded: two may not fit into memory."""

    def __init__(self, own: Choice | None, how: Loading) -> None:
        self._own, self._how = own, how
        self._key: tuple[str, Loading] | None = None
        self._state: object = None
        self._loaded: LoadedModel | None = None

    def resolve(self, choice: Choice | None, how: Loading) -> tuple[Choice, Loading]:
        """Return the chosen model and how to load it, with the default model for missing values.

        Raises ScoringError if there is no model, or if loading options are given for a loaded
        model.
        """
        if choice is None:
            if self._own is None:
                raise ScoringError(
                    "input.missing",
                    "no model was given",
                    remedy="pass model_id, or model and tokenizer",
                )
            given = {name: value for name, value in asdict(how).items() if value}
            choice, how = self._own, replace(self._how, **given)
        if isinstance(choice, LoadedModel) and how != Loading():
            raise ScoringError(
                "option.conflict",
                "revision, dtype, device and trust_remote_code say how to load a model_id; "
                "a loaded model is used as it is",
                remedy="leave them out, or pass a model_id",
            )
        return choice, how

    def load(self, choice: Choice, how: Loading) -> LoadedModel | list[str | Path]:
        """Return one model; it is loaded unless it is held and its files are unchanged.

        Several models are not loaded here, and the held one is released.
        """
        if not isinstance(choice, str | Path):
            self._loaded = None
            return choice
        key, state = (str(choice), how), _state(choice, how)
        if self._loaded is None or self._key != key or state not in (None, self._state):
            self._loaded = None  # before the next takes its place
            self._loaded = pin_version(load_model(choice, how), remember=False)
            self._key, self._state = key, state
        return self._loaded


def choose_model(
    model_id: str | Path | Sequence[str | Path] | None,
    model: PreTrainedModel | None,
    tokenizer: PreTrainedTokenizerBase | None,
) -> Choice | None:
    """Return the one model or the list of models that three arguments name, or None."""
    if model is not None or tokenizer is not None:
        if model_id is not None:
            raise ScoringError(
                "option.conflict", remedy="pass either model_id, or model and tokenizer, not both"
            )
        if model is None or tokenizer is None:
            raise ScoringError(
                "option.needs-another", "model and tokenizer go together", remedy="pass both"
            )
        return wrap_model(model, tokenizer)
    if model_id is None or isinstance(model_id, str | Path):
        return model_id
    several = list(model_id) if isinstance(model_id, Sequence) else []
    if not several or not all(isinstance(entry, str | Path) for entry in several):
        raise ScoringError(
            "model.unknown",
            "model_id must be a Hub id, a folder, or a list of them",
            remedy="pass a loaded model as model and tokenizer",
        )
    return several


def _state(model_id: str | Path, how: Loading) -> object:
    """Return what changes with the local files of a model; None without files.

    It is unlike any other if the files cannot be read.
    """
    try:
        states = [file_state(place) for place, _ in places_read(model_id, how)]
        return states if any(states) else None
    except (OSError, ValueError, LookupError, TypeError):  # loading says what is wrong
        return object()
