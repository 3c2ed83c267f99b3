"""The metric as a class of the `evaluate` library, with `compute`, `add` and `add_batch`.

`evaluate` uses the first metric class among the names of a script. In a Space, this module is the
script, so the base class must not be one of its names: it is written evaluate.Metric.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import evaluate
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.data import (
    COLUMNS,
    FEATURES,
    REQUIRED,
    PairData,
    PairSet,
    check_characters,
    check_required,
    frame_of,
    load_pairs,
)
from nnd.metric.likelihood import Loading, ModelHolder, Scoring, choose_model
from nnd.metric.numbers import CITATION, DESCRIPTION, INPUTS
from nnd.metric.run import evaluate as evaluate_models
from nnd.metric.text import Chat, Keep
from nnd.schemas import ScoringError, did_you_mean


@evaluate.utils.file_utils.add_start_docstrings(DESCRIPTION, INPUTS)
class NND(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """The NND metric, optionally with a default model: evaluate.load("nnd", model_id="gpt2").

    A model is loaded when it is first needed, because the pairs may be invalid, and of several
    processes only the first scores. The last single model stays in memory and is used again if it
    is requested with the same options and its folder has not changed. The models of a list are
    loaded and released one after the other, because two may not fit into memory.

    Args:
        *args: Same as in evaluate.Metric.
        model_id: Hub id or folder of the default model of `compute`.
        model: The default model itself, instead of model_id,
        tokenizer: and its tokenizer.
        model_revision: Its branch, tag or commit (evaluate.load uses `revision` for the metric).
        dtype: Same as in compute, like the next two; they apply to this model only.
        device: A torch device.
        trust_remote_code: Whether custom code shipped with the checkpoint may run.
        **kwargs: Same as in evaluate.Metric.

    Raises:
        ScoringError: If both model_id and model are given, or a model without its tokenizer, or an
            argument is unknown.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - passed to the base class
        model_id: str | Path | None = None,
        model: PreTrainedModel | None = None,
        tokenizer: PreTrainedTokenizerBase | None = None,
        model_revision: str | None = None,
        dtype: str | None = None,
        device: str | None = None,
        trust_remote_code: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        # The base class would ignore a misspelt argument.
        _check_known(kwargs, inspect.signature(evaluate.EvaluationModule).parameters)
        super().__init__(*args, **kwargs)
        loading = Loading(model_revision, dtype, device, trust_remote_code)
        self._holder = ModelHolder(choose_model(model_id, model, tokenizer), loading)

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name != "default":
            raise ScoringError(
                "option.unknown-value",
                f"unknown configuration {self.config_name}",
                remedy="omit config_name",
            )
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features({name: datasets.Value("string") for name in FEATURES}),
            reference_urls=["https://arxiv.org/abs/2205.06871"],
            license="Apache-2.0",
        )

    def compute(
        self,
        *,
        dataset: PairData | None = None,
        model_id: str | Path | Sequence[str | Path] | None = None,
        model: PreTrainedModel | None = None,
        tokenizer: PreTrainedTokenizerBase | None = None,
        human_scores: PairData | None = None,
        systems: Mapping[str, str] | None = None,
        splits: Sequence[str] = (),
        protocol: str = "native",
        template: str | None = None,
        chat_template: str | Path = "auto",
        system_prompt: str | None = None,
        template_args: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
        language: str | Sequence[str] | None = None,
        context_language: str | Sequence[str] | None = None,
        unconditional: bool = True,
        token_budget: int | None = None,
        cache: bool = True,
        revision: str | None = None,
        dtype: str | None = None,
        device: str | None = None,
        trust_remote_code: bool = False,
        **columns: Any,  # noqa: ANN401 - lists, arrays, columns of a Dataset
    ) -> dict[str, Any] | None:
        """Return the pass rates of one model, or of several with their agreement with people.

        Args:
            dataset: The pairs, unless they are passed as columns or were added before.
            model_id: Hub id or folder, or a list of them; None means the one this metric holds.
            model: Instead of model_id, the model itself,
            tokenizer: and its tokenizer.
            human_scores: Human scores per system: a converted folder, a Parquet file, a Dataset;
                None means those that come with the dataset.
            systems: Model → system it stands for, if the model's id does not name it.
            splits: Only the pairs of these splits; by default those of test, if the others are
                called train, validation, dev or the like, else all.
            protocol: Which tokens count: native, laban2022, bartscore, sum, bytes or pmi; pll
                or pll-original for masked models.
            template: None for what a model reads by itself (`Scoring`), "instruction", "default",
                the name of another template, "auto" (by the model's name), or a
                text with {placeholders}.
            chat_template: "auto" means the tokenizer's chat template, if a decoder-only model has
                one; "none" means plain text; anything else is a file with a Jinja template.
            system_prompt: Text of a chat's system turn; None means the template's default, "" means
                none.
            template_args: Further arguments of the chat template.
            keep: Which part of a context is kept if it exceeds the model's window, "beginning" or
                "end".
            language: Language of the candidates, such as "de", for models that are given it by a
                code (NLLB, mBART, M2M100, MADLAD-400, some of Marian): where the data does not say
                it, or not exactly enough. A list is a column of the pairs: one for each.
            context_language: Language of the contexts, likewise.
            unconditional: Whether to score candidates without their contexts too, as a baseline.
            token_budget: Tokens held in memory at once; None means as many as memory allows.
            cache: Whether likelihoods are stored, and stored ones of the same model reused.
            revision: Branch, tag or commit of the models.
            dtype: A torch dtype by name; None means float32 on CPU, the checkpoint's elsewhere.
            device: A torch device; None means the fastest available.
            trust_remote_code: Whether custom code shipped with the checkpoint may run.
            **columns: The pairs, column by column.

        Returns:
            Plain Python values as described below; None on all processes but the first.

        Raises:
            ScoringError: If the pairs or a model cannot be used; the message says which and why.
        """
        _check_known(columns, COLUMNS)
        requested = Loading(revision, dtype, device, trust_remote_code)
        choice, loading = self._holder.resolve(choose_model(model_id, model, tokenizer), requested)
        chat = Chat(chat_template, system_prompt, template_args or {})
        asked = {"language": language, "context_language": context_language}
        of_all: dict[str, Any] = {n: said for n, said in asked.items() if isinstance(said, str)}
        columns |= {name: said for name, said in asked.items() if name not in of_all}
        scoring = Scoring(
            protocol, template, keep, unconditional, token_budget, cache, chat, **of_all
        )
        scoring.check()
        pairs = self._pairs(dataset, columns)
        if pairs is None:
            return None
        evaluation = evaluate_models(
            self._holder.load(choice, loading),
            pairs,
            human_scores=human_scores,
            systems=systems,
            splits=splits,
            scoring=scoring,
            loading=loading,
        ).to_dict()
        if isinstance(choice, list):
            return evaluation
        (result,) = evaluation.pop("results")
        return {**result, **evaluation}

    def add_batch(
        self,
        *,
        error_category: Sequence[str | None] | None = None,
        **columns: Any,  # noqa: ANN401
    ) -> None:
        """Add pairs to be computed later."""
        _check_known(columns, COLUMNS)
        check_required(columns)
        check_characters({**columns, "error_category": error_category or []})
        labels = [None] * len(columns["context"]) if error_category is None else error_category
        super().add_batch(error_category=[label or "" for label in labels], **columns)

    def add(self, *, error_category: str | None = None, **columns: Any) -> None:  # noqa: ANN401
        """Add one pair to be computed later."""
        _check_known(columns, COLUMNS)
        check_required(columns)
        of_one = {name: [value] for name, value in columns.items()}
        self.add_batch(error_category=[error_category], **of_one)

    def _compute(self, **columns: list[str]) -> dict[str, list[str]]:
        """Return the added pairs; they are scored once the base class has closed its files."""
        return columns

    def _pairs(self, dataset: PairData | None, columns: dict[str, Any]) -> PairSet | None:
        given = {name: values for name, values in columns.items() if values is not None}
        if dataset is not None:
            if given or self.writer is not None:
                raise ScoringError(
                    "option.conflict", remedy="pass either dataset or columns of pairs, not both"
                )
            return load_pairs(dataset) if self.process_id == 0 else None
        if given:
            if self.writer is None and self.num_process == 1:
                return load_pairs(frame_of(given))
            self.add_batch(**given)
        if self.writer is None:
            raise ScoringError(
                "input.missing",
                "no pairs were given",
                remedy=f"pass dataset, or {', '.join(REQUIRED)}",
            )
        stored = super().compute()
        return None if stored is None else load_pairs(frame_of(stored))


def _check_known(names: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if not unknown:
        return
    arguments = [*inspect.signature(NND.compute).parameters]
    meant = did_you_mean(unknown[0], {*known, *arguments} - {"self", "columns"})
    raise ScoringError(
        "option.unknown-value",
        f"unknown argument {unknown[0]}{meant}",
        remedy=f"NND takes pairs: dataset, or the columns {', '.join(REQUIRED)}",
    )
