"""The token ids of a request by the tokenizer's own methods: no code of `text.encoding` is used.

Written from the description of the protocols: the tokenizer reads a whole text, transformers'
`apply_chat_template` writes a whole chat, and what the candidate adds to the ids of the context is
scored. The texts themselves are those of nnd: which template, instruction and chat template a model
is given is not tested here.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from nnd.metric.likelihood import LoadedModel
from nnd.metric.text import ChatTemplate, Ids, Tokenizer

_WORD, _LINE = "Who sat", "Who sat?\n"

_LABAN2022 = {"prophetnet": (102, 102), "fsmt": (2, 2), "t5": (0, 1)}
"""Start and end ids that the paper's released code sets for families."""

_STAND_IN = "-"


class PlainRow(NamedTuple):
    """A request in token ids.

    Attributes:
        context: What the encoder reads, or the ids before the candidate.
        targets: The ids to predict.
        scored: Which of them count.
        start: What the decoder reads first, if the protocol says it; None means that the model
            shifts the targets itself. Decoder-only models have it at the end of `context`.
        as_one: Whether the ids are those of the whole text or chat.
    """

    context: Ids
    targets: Ids
    scored: tuple[bool, ...]
    start: int | None = None
    as_one: bool = True


class PlainReader:
    """Reads requests for one model under one protocol.

    `context` is the text of a template, literals and data joined; None stands for none, which a
    chat model reads as an empty turn.
    """

    def __init__(
        self, loaded: LoadedModel, protocol: str, separator: str, chat: ChatTemplate | None
    ) -> None:
        self._tokenizer, self._protocol = loaded.tokenizer, protocol
        self._separator, self._chat = separator, chat
        self._in_two = loaded.is_encoder_decoder
        bos, eos = loaded.tokenizer.bos_token_id, loaded.tokenizer.eos_token_id
        self._stand_in = eos if bos is None else bos
        self._eos = eos
        start, end = _LABAN2022.get(loaded.model.config.model_type, (bos, eos))
        self._start, self._end = 0 if start is None else start, end

    def read(self, context: str | None, candidate: str) -> PlainRow:
        """Return the ids of a request."""
        if self._in_two:
            return self._read_in_two(context or "", candidate)
        if self._chat is not None:
            return self._read_chat(self._chat, context or "", candidate)
        return self._read_text(context or "", candidate)

    def _read_in_two(self, context: str, candidate: str) -> PlainRow:
        source = _ids(self._tokenizer, context, special=True) or (self._stand_in,)
        if self._protocol == "laban2022":
            ids = _ids(self._tokenizer, candidate)
            return PlainRow(source, (*ids, self._end), (True,) * (len(ids) + 1), self._start)
        labels = _ids(self._tokenizer, candidate, special=True, target=True)
        ids = _ids(self._tokenizer, candidate, target=True)
        lead = _place(ids, labels)
        trail = labels[lead + len(ids) :]
        ends = [number == 0 and token == self._eos for number, token in enumerate(trail)]
        every = self._protocol == "bartscore"
        scored = (False,) * lead + (True,) * len(ids) + tuple(ends)
        return PlainRow(source, labels, (True,) * len(labels) if every else scored)

    def _read_text(self, context: str, candidate: str) -> PlainRow:
        bare = _ids(self._tokenizer, context)
        whole = _ids(self._tokenizer, context, special=True)
        if self._protocol == "laban2022":
            ids = _ids(self._tokenizer, candidate)
            return PlainRow((*whole, self._start), (*ids, self._end), (True,) * (len(ids) + 1))
        # An end token after the context would separate the candidate from it.
        before = whole[: _place(bare, whole) + len(bare)] or (self._stand_in,)
        ids = self._added(_WORD if self._separator else _LINE, candidate)
        joint = _ids(self._tokenizer, context + self._separator + candidate)
        is_joint = not candidate or joint == bare + ids
        return PlainRow(before, ids, (True,) * len(ids), as_one=is_joint)

    def _read_chat(self, chat: ChatTemplate, context: str, candidate: str) -> PlainRow:
        answer = candidate if candidate.strip() else _STAND_IN
        text = str(self._written(chat, context, answer, tokenize=False))
        text = text[: text.rindex(answer.strip())].removesuffix(self._separator)
        before = _ids(self._tokenizer, text)
        ids = self._added(text, candidate)
        whole = tuple(self._written(chat, context, answer, tokenize=True))
        is_joint = not candidate.strip() or whole == before + ids
        return PlainRow(before or (self._stand_in,), ids, (True,) * len(ids), as_one=is_joint)

    def _written(
        self, chat: ChatTemplate, context: str, answer: str, *, tokenize: bool
    ) -> str | Sequence[int]:
        """Return a chat up to the end of the answer, as transformers writes or tokenises it."""
        renderer = chat.renderer
        system = [] if renderer.system is None else [{"role": "system", "content": renderer.system}]
        turns = [{"role": "user", "content": context}, {"role": "assistant", "content": answer}]
        written: Any = self._tokenizer.apply_chat_template(
            [*system, *turns],
            chat_template=renderer.template,
            tokenize=tokenize,
            continue_final_message=True,
            return_dict=False,
            **renderer.arguments,
        )
        text_or_ids: str | Sequence[int] = written
        return text_or_ids

    def _added(self, before: str, candidate: str) -> Ids:
        """Return the ids that separator and candidate add to a text."""
        if not candidate:
            return ()
        for text in (before, _WORD if self._separator else _LINE, _LINE):
            bare = _ids(self._tokenizer, text)
            whole = _ids(self._tokenizer, text + self._separator + candidate)
            if whole[: len(bare)] == bare:
                return whole[len(bare) :]
        return _ids(self._tokenizer, self._separator + candidate)


def _ids(tokenizer: Tokenizer, text: str, *, special: bool = False, target: bool = False) -> Ids:
    given = {"text_target" if target else "text": text}
    read = tokenizer(**given, add_special_tokens=special, verbose=False)
    return tuple(read["input_ids"])


def _place(part: Ids, whole: Ids) -> int:
    """Return where a part begins in a whole."""
    places = range(len(whole) - len(part) + 1)
    return next((start for start in places if whole[start : start + len(part)] == part), 0)
