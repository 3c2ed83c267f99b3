"""The options for scoring pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from nnd.metric.text import Chat, Keep, LanguageOptions, check_template, find_protocol
from nnd.schemas import ScoringError

Matmul: TypeAlias = Literal["highest", "high"]
"""Precision of float32 matrix products: exact, or rounded to TF32 on a GPU's tensor cores."""
MATMULS: Final = get_args(Matmul)


@dataclass(frozen=True, slots=True)
class Scoring:
    """How pairs are scored.

    Attributes:
        protocol: Which tokens are scored and what they are divided by: native, laban2022,
            bartscore, sum, bytes or pmi; pll or pll-original for masked models.
        template: A name from `TEMPLATES`; instruction, instruction-2 or instruction-3,
            which is what people asked the systems, or a paraphrase; a text with {placeholders}; or
            auto: by the model's name. None means what a model reads by itself: a chat model the
            instruction, if the data has one, and any other model the stored context. pair makes
            context and candidate the two texts of a masked model's pair.
        keep: Part of a context that remains after a cut to the model's window. None means beginning
            for encoder-decoders, end for decoder-only models.
        unconditional: Whether to compute the baseline: the same model without contexts.
        token_budget: Tokens held in memory at once. None means what memory allows.
        cache: Whether to store likelihoods, or reuse stored ones of the same model.
        chat: How contexts become chats.
        separator: Text between context and candidate, unless the model is an encoder-decoder. None
            means that of the template.
        matmul: How a GPU multiplies float32 matrices: highest, or high (TF32: faster, about as
            exact as float16).
        keep_tokens: Whether to also store the log-likelihood of each token of the candidates, with
            its place, for `slice --spans` and `show --run`. It takes another pass.
        language: Language of the candidates, such as de or zh-Hant, for models that are given it by
            a code (NLLB, mBART, M2M100, MADLAD-400, some of Marian): where the data does not say
            it, says it not exactly enough, or says one that the model does not know.
        context_language: Language of the contexts, likewise. None means what the data says, else
            what the model's tokenizer is set to.
    """

    protocol: str = "native"
    template: str | None = None
    keep: Keep | None = None
    unconditional: bool = True
    token_budget: int | None = None
    cache: bool = True
    chat: Chat = field(default_factory=Chat)
    separator: str | None = None
    matmul: Matmul = "highest"
    keep_tokens: bool = False
    language: str | None = None
    context_language: str | None = None

    @property
    def languages(self) -> LanguageOptions:
        """What the user says of languages."""
        return LanguageOptions(self.language, self.context_language)

    def check(self) -> None:
        """Check the options before any model is loaded.

        Raises:
            ScoringError: If a name is unknown, a template is malformed, or an option does not fit
                the protocol.
        """
        self.chat.check(find_protocol(self.protocol))
        if self.template is not None:
            check_template(self.template)
        if self.matmul not in MATMULS:
            raise ScoringError(
                "option.unknown-value",
                f'unknown matmul precision "{self.matmul}"',
                remedy=f"choose {' or '.join(MATMULS)}",
            )


def scoring_of_each(
    models: Sequence[str], scoring: Scoring, templates: Mapping[str, str]
) -> dict[str, Scoring]:
    """Return the options for each model, checked before any model is loaded."""
    unknown = [model for model in templates if model not in models]
    if unknown:
        raise ScoringError(
            "name.unknown",
            f'unknown model "{unknown[0]}"',
            "templates",
            f"the models to evaluate are {', '.join(models)}",
        )
    scoring_of = {
        model: replace(scoring, template=templates.get(model, scoring.template)) for model in models
    }
    for own in scoring_of.values():
        own.check()
    return scoring_of
