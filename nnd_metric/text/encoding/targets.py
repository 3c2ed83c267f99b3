"""A candidate in token ids under each protocol: the inputs, the targets, and which count."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from nnd.metric.text.encoding.boundary import Known, continue_with
from nnd.metric.text.encoding.languages import needs_language, speaking
from nnd.metric.text.encoding.protocols import Protocol
from nnd.metric.text.encoding.requests import Ids, Languages, TextModel
from nnd.metric.text.encoding.tokens import Frame, special_frame, text_ids
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    import torch

# (start, end) ids that the paper's released code sets for whole model families.
_LABAN2022_IDS = {"prophetnet": (102, 102), "fsmt": (2, 2), "t5": (0, 1)}


_Shift: TypeAlias = "Callable[[torch.Tensor], torch.Tensor]"


class Target(NamedTuple):
    """A candidate in token ids: those fed to the decoder, those to predict, and which count.

    One token less is fed than predicted if the last token of the context predicts the first of the
    candidate (decoder-only, `native`).
    """

    fed: Ids
    targets: Ids
    scored: tuple[bool, ...]


def make_targets(
    loaded: TextModel,
    protocol: Protocol,
    candidates: Sequence[str],
    separator: str,
    *,
    end: str = "",
    known: Known | None = None,
    languages: Languages | None = None,
) -> list[Target]:
    """Turn candidates into token ids under a protocol.

    `separator` is put before each candidate for decoder-only models under `native`, and belongs to
    it. `end` is the common end of all contexts (`shared_end`); `known` is that of `continue_with`;
    the tokenizer is set to the `languages`.
    """
    if protocol.tokens == "laban2022":
        return _laban2022(loaded, candidates)
    if loaded.is_encoder_decoder:
        return _labels(
            loaded, candidates, every=protocol.tokens == "bartscore", languages=languages
        )
    if protocol.tokens == "bartscore":
        raise ScoringError(
            "protocol.another-model",
            'protocol "bartscore" is for encoder-decoders, but this is a decoder-only model',
            loaded.name,
            'use "native" or "laban2022"',
        )
    # A plain continuation: every token after those of the context is scored.
    own = continue_with(loaded.tokenizer, candidates, separator, end=end, known=known)
    return [Target(ids[:-1], ids, (True,) * len(ids)) for ids, _ in own]


def check_told(loaded: TextModel, protocol: Protocol, languages: Languages | None) -> None:
    """Check that a model that is given languages is given them, and by a protocol that can."""
    if languages is None and loaded.is_encoder_decoder and needs_language(loaded.tokenizer):
        raise ScoringError(
            "model.language",
            "this model is given the language of a candidate, and nothing says it",
            loaded.name,
        )
    if protocol.tokens == "laban2022" and languages is not None and languages.source is not None:
        raise ScoringError(
            "protocol.another-model",
            'protocol "laban2022" has no place for the code of a language, which this model reads '
            "before a candidate",
            loaded.name,
        )


def count_end_tokens(
    loaded: TextModel, protocol: Protocol, languages: Languages | None = None
) -> int:
    """Return how many of a candidate's scored tokens are not its own, in some languages."""
    if protocol.tokens == "laban2022":
        return 1
    if not loaded.is_encoder_decoder:
        return 0
    every = protocol.tokens == "bartscore"
    with speaking(loaded.tokenizer, languages):
        lead, trail = _target_frame(loaded, languages)
        return sum(sum(part) for part in _scored_frame(loaded, lead, trail, every=every))


def _labels(
    loaded: TextModel, candidates: Sequence[str], *, every: bool, languages: Languages | None
) -> list[Target]:
    """Return the targets of an encoder-decoder: labels as in training, and its own shift of them.

    Special tokens before the candidate (BART's <s>, a language code) are fed but not scored; of
    those after it, only the first end token is scored, unless `every` label is (BARTScore).
    """
    lead, trail = _target_frame(loaded, languages)
    before, behind = _scored_frame(loaded, lead, trail, every=every)
    targets = []
    for ids in text_ids(loaded.tokenizer, candidates, target=True):
        labels = lead + ids + trail
        targets.append(Target(_shift(loaded, labels), labels, before + (True,) * len(ids) + behind))
    return targets


def _target_frame(loaded: TextModel, languages: Languages | None) -> Frame:
    """Return the special tokens around a text to generate.

    A code of a language at the end of labels is one that the model's shift moves to the front
    (mBART). Where it does not, in NLLB's legacy labels, the code is put where `generate` has it:
    else the decoder would not read it.
    """
    frame = special_frame(loaded.tokenizer, target=True)
    code = loaded.tokenizer.convert_tokens_to_ids(languages.target) if languages else None
    if code not in frame.trail or code in _shift(loaded, frame.lead + frame.trail)[:1]:
        return frame
    return Frame((int(code), *frame.lead), tuple(token for token in frame.trail if token != code))


def _scored_frame(
    loaded: TextModel, lead: Ids, trail: Ids, *, every: bool
) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Return which special tokens before and after a label are scored."""
    ends = bool(trail) and trail[0] in _end_ids(loaded)
    behind = (ends or every, *(every,) * (len(trail) - 1))
    return (every,) * len(lead), behind[: len(trail)]


def _shift(loaded: TextModel, labels: Ids) -> Ids:
    if not labels:
        return ()
    config = loaded.model.config
    try:
        shift = getattr(loaded.model, "prepare_decoder_input_ids_from_labels", None)
        if shift is None:  # M2M100 and Blenderbot shift only in their loss
            return (int(config.decoder_start_token_id), *labels[:-1])
        import torch  # noqa: PLC0415 - slow, and needed by encoder-decoders only

        shifted = cast("_Shift", shift)(torch.tensor([labels]))
    except (AttributeError, ValueError, TypeError) as error:
        raise ScoringError(
            "model.tokenizer",
            f"the model does not define the start token of its decoder ({error})",
            loaded.name,
            "set decoder_start_token_id in its config",
        ) from error
    return tuple(shifted[0].tolist())


def _end_ids(loaded: TextModel) -> set[int]:
    configured = getattr(loaded.model.config, "eos_token_id", None)
    several = configured if isinstance(configured, list) else [configured]
    return {token for token in (loaded.tokenizer.eos_token_id, *several) if token is not None}


def _laban2022(loaded: TextModel, candidates: Sequence[str]) -> list[Target]:
    """Return targets as the paper's code does: start token, candidate, and a scored end token."""
    tokenizer = loaded.tokenizer
    start, end = _LABAN2022_IDS.get(
        loaded.model.config.model_type, (tokenizer.bos_token_id, tokenizer.eos_token_id)
    )
    if end is None:
        raise ScoringError(
            "protocol.another-model",
            'protocol "laban2022" scores an end token, but the tokenizer has none',
            loaded.name,
        )
    first = 0 if start is None else start
    return [
        Target((first, *ids), (*ids, end), (True,) * (len(ids) + 1))
        for ids in text_ids(tokenizer, candidates)
    ]
