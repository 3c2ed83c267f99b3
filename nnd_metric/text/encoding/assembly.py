"""From (context, candidate) to token ids: which are read, predicted and scored.

Context and candidate are tokenised separately, so tokens neither cross the boundary nor get lost.
"""

from collections.abc import Sequence

from nnd.metric.text.encoding.boundary import Known, shared_end
from nnd.metric.text.encoding.chat_ids import chat_ids, cut_chat
from nnd.metric.text.encoding.languages import speaking
from nnd.metric.text.encoding.protocols import Protocol, check_kind
from nnd.metric.text.encoding.requests import (
    ChatContext,
    Context,
    Encoded,
    Ids,
    Keep,
    Languages,
    Prefix,
    Reading,
    TextModel,
    ToldContext,
    languages_of,
)
from nnd.metric.text.encoding.targets import Target, check_told, make_targets
from nnd.metric.text.encoding.tokens import Frame, source_ids, special_frame
from nnd.schemas import CandidateError, ScoringError, collector_paused, excerpt


@collector_paused()
def encode(
    loaded: TextModel,
    protocol: Protocol,
    requests: Sequence[Reading],
    *,
    separator: str = " ",
    keep: Keep | None = None,
    known: Known | None = None,
) -> list[Encoded]:
    """Turn requests (context and candidate) into token ids under a protocol.

    A context is cut once, to the window minus the longest of its candidates in `requests`, so that
    all candidates of a context get the same context. In a chat only the contents are cut; the
    tokens around them are those that its template writes. `keep` says which part remains; None
    means the beginning for encoder-decoders and the end for decoder-only models.

    `separator` is for decoder-only models (`native`). `known` has candidates of earlier calls with
    the same separator (`continue_with`).

    Raises:
        CandidateError: If a candidate does not fit the window.
        ScoringError: If the protocol is for other models, the tokenizer lacks a token that it
            needs, or the model is not given a language that it has to be given.
    """
    numbers_of: dict[Languages | None, list[int]] = {}
    for number, (context, _) in enumerate(requests):
        numbers_of.setdefault(languages_of(context), []).append(number)
    encoded: dict[int, Encoded] = {}
    for languages, numbers in numbers_of.items():
        some = [_untold(*requests[number]) for number in numbers]
        with speaking(loaded.tokenizer, languages):
            rows = _encode(
                loaded, protocol, some, separator, keep=keep, known=known, languages=languages
            )
        encoded.update(zip(numbers, rows, strict=True))
    return [encoded[number] for number in range(len(requests))]


def _untold(context: Context, candidate: str) -> Reading:
    return (context.text or "" if isinstance(context, ToldContext) else context), candidate


def _encode(
    loaded: TextModel,
    protocol: Protocol,
    requests: Sequence[Reading],
    separator: str,
    *,
    keep: Keep | None,
    known: Known | None,
    languages: Languages | None,
) -> list[Encoded]:
    """Encode requests of the same languages, to which the tokenizer is set."""
    if keep not in (None, "beginning", "end"):
        raise ScoringError(
            "option.unknown-value",
            f'unknown side "{keep}" of a context',
            remedy="choose beginning or end",
        )
    check_kind(loaded, protocol)
    check_told(loaded, protocol, languages)
    tokenizer, in_two = loaded.tokenizer, loaded.is_encoder_decoder
    contexts = list(dict.fromkeys(context for context, _ in requests))
    candidates = list(dict.fromkeys(candidate for _, candidate in requests))
    end = shared_end(tokenizer, contexts)
    made = make_targets(
        loaded, protocol, candidates, separator, end=end, known=known, languages=languages
    )
    target_of = dict(zip(candidates, made, strict=True))
    longest = longest_candidates(requests, target_of)
    window = loaded.decoder_window
    for candidate, target in target_of.items() if in_two else ():
        if window is not None and len(target.targets) > window:
            raise too_long(loaded, candidate, target)
    chats = [context for context in contexts if isinstance(context, ChatContext)]
    texts = [context for context in contexts if not isinstance(context, ChatContext | ToldContext)]
    bodies: dict[Context, Ids] = dict(zip(chats, chat_ids(tokenizer, chats), strict=True))
    first, read = source_ids(tokenizer, texts, languages.token if languages else "")
    bodies.update(zip(texts, read, strict=True))
    frame = special_frame(tokenizer)
    frame = Frame(frame.lead + first, frame.trail)
    side = keep or ("beginning" if in_two else "end")
    prefix_of: dict[Context, Prefix] = {}
    for context, body in bodies.items():
        longest_target = target_of[longest[context]]
        room = loaded.encoder_window if in_two else window
        if room is not None and not in_two:
            room -= len(longest_target.targets)
        if isinstance(context, ChatContext):
            prefix = _fit_chat(loaded, context, body, room, side)
        else:
            prefix = fit_context(_around(loaded, protocol, frame, body), body, room, side)
        if prefix is None:
            raise too_long(loaded, longest[context], longest_target, context)
        prefix_of[context] = prefix
    if in_two:
        both = ((prefix_of[context], target_of[candidate]) for context, candidate in requests)
        return [
            Encoded(prefix.ids, target.fed, target.targets, target.scored, prefix.truncated)
            for prefix, target in both
        ]
    starts_of = {context: (prefix.ids, prefix.ids[:-1]) for context, prefix in prefix_of.items()}
    return [
        _continue(prefix_of[context], starts_of[context], target_of[candidate])
        for context, candidate in requests
    ]


def _continue(prefix: Prefix, starts: tuple[Ids, Ids], target: Target) -> Encoded:
    """Encode context and candidate as one row, whose last positions, one per target, predict.

    If the input has one token less than the candidate has targets, the last token of the context is
    one of these positions. The requests of a context share the tokens before, one of `starts`:
    copies would take most of the memory of a large run.
    """
    start = starts[len(target.targets) - len(target.fed)]
    inputs = prefix.ids[len(start) :] + target.fed
    return Encoded(start, inputs, target.targets, target.scored, prefix.truncated)


def _around(loaded: TextModel, protocol: Protocol, frame: Frame, body: Ids) -> Frame:
    if loaded.is_encoder_decoder:  # which needs input
        return frame if body or any(frame) else Frame(_stand_in(loaded), ())
    if protocol.tokens == "laban2022":
        return frame
    # An end token would separate the candidate from its context; an empty context needs a token
    # that predicts the candidate's first one.
    return Frame(frame.lead or (() if body else _stand_in(loaded)), ())


def _stand_in(loaded: TextModel) -> Ids:
    for token in (loaded.tokenizer.bos_token_id, loaded.tokenizer.eos_token_id):
        if token is not None:
            return (token,)
    raise ScoringError(
        "model.tokenizer",
        "a context is empty, but the tokenizer has neither a bos nor an eos token to represent it",
        loaded.name,
        "leave the context out (with protocol pmi, which scores without contexts, use native)",
    )


def longest_candidates(
    requests: Sequence[Reading], target_of: dict[str, Target]
) -> dict[Context, str]:
    """Return each context with that of its candidates that has the most targets."""
    longest: dict[Context, str] = {}
    for context, candidate in requests:
        rival = target_of[longest.setdefault(context, candidate)]
        if len(target_of[candidate].targets) > len(rival.targets):
            longest[context] = candidate
    return longest


def fit_context(frame: Frame, body: Ids, room: int | None, keep: Keep) -> Prefix | None:
    """Put the special tokens around a context and cut its text; None if nothing would remain."""
    left = len(body) if room is None else room - len(frame.lead) - len(frame.trail)
    if left >= len(body):
        return Prefix(frame.lead + body + frame.trail, truncated=False)
    if left < 1:
        return None
    kept = body[:left] if keep == "beginning" else body[-left:]
    return Prefix(frame.lead + kept + frame.trail, truncated=True)


def _fit_chat(
    loaded: TextModel, chat: ChatContext, body: Ids, room: int | None, side: Keep
) -> Prefix | None:
    """Cut the contents of a chat; None if nothing of them would remain."""
    whole = body or _stand_in(loaded)  # a token has to predict the first token of the candidate
    if room is None or len(whole) <= room:
        return Prefix(whole, truncated=False)
    return cut_chat(loaded.tokenizer, chat, room, side)


def too_long(
    loaded: TextModel, candidate: str, target: Target, context: Context = ""
) -> CandidateError:
    """Return the error of a candidate that does not fit the model's window."""
    others = ", those of the chat template included" if isinstance(context, ChatContext) else ""
    return CandidateError(
        f'the candidate "{excerpt(candidate)}" takes {len(target.targets)} tokens, '
        f"but the model reads {loaded.decoder_window} in all{others}",
        loaded.name,
        candidate,
    )
