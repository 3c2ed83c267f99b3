"""Tiny multilingual encoder-decoders that are told languages by codes, one for each convention.

A `ToldModel` states literally what its tokenizer puts around texts, as names of tokens; {source}
and {target} stand for codes. The oracle scores one request at a time, in float64.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from support.tiny_models import (
    ROMANIAN,
    SENTENCES,
    Ids,
    _spm,
    bart_shape,
    byte_level,
    randomised,
    seeded,
    unigram,
)


@dataclass(frozen=True)
class ToldModel:
    """A model and what it reads: tokens before and after a source, before and after a target.

    In `source`, "text" stands for the text; `start` are the tokens that the decoder reads before
    the target.
    """

    model: Any
    tokenizer: Any
    source: tuple[str, ...]
    start: tuple[str, ...]
    code: Callable[[str], str]

    def ids(self, names: tuple[str, ...], source: str, target: str) -> Ids:
        """Return the ids of tokens by name."""
        told = (name.format(source=self.code(source), target=self.code(target)) for name in names)
        return tuple(self.tokenizer.convert_tokens_to_ids(name) for name in told)

    def read(self, text: str, source: str, target: str) -> Ids:
        """Return the ids of a source: around its text, which `text` stands for."""
        at = self.source.index("text")
        around = self.source[:at], self.source[at + 1 :]
        before, after = (self.ids(names, source, target) for names in around)
        return before + self.text_ids(text) + after

    def text_ids(self, text: str, *, target: bool = False) -> Ids:
        """Return the ids of a text alone."""
        key = "text_target" if target and hasattr(self.tokenizer, "spm_target") else "text"
        return tuple(self.tokenizer(**{key: text}, add_special_tokens=False)["input_ids"])

    @torch.no_grad()
    def log_probabilities(
        self, context: str, candidate: str, source: str, target: str
    ) -> list[float]:
        """Return the log-probability of each token of a candidate, and of the end token."""
        start = self.ids(self.start, source, target)
        end = self.tokenizer.convert_tokens_to_ids("</s>")
        labels = (*self.text_ids(candidate, target=True), end)
        model = self.model.double().eval()
        logits = model(
            input_ids=torch.tensor([self.read(context, source, target)]),
            decoder_input_ids=torch.tensor([[*start, *labels[:-1]]]),
        ).logits[0]
        found = logits.log_softmax(-1)[len(start) - 1 :]
        return [float(found[place, token]) for place, token in enumerate(labels)]


def same(code: str) -> str:
    """Return a code as it is spelled."""
    return code


def m2m_code(code: str) -> str:
    """Return the token of a code of M2M100."""
    return f"__{code}__"


def _bart_kind(kind: Any, config: Any, tokenizer: Any, **more: Any) -> Any:
    size = max(tokenizer.get_vocab().values()) + 120
    return kind(config(**bart_shape(size, 160), pad_token_id=1, eos_token_id=2, **more))


def _nllb(_: Path, *, legacy: bool = False) -> ToldModel:
    """NLLB: legacy or not, the decoder starts with </s> and the code, as in `generate`."""
    vocab, merges = byte_level(["<s>", "<pad>", "</s>", "<unk>"])
    codes = ["eng_Latn", "deu_Latn", "ron_Latn", "zho_Hans", "zho_Hant", "srp_Cyrl"]
    tokenizer = hf.NllbTokenizer(
        vocab=vocab, merges=merges, extra_special_tokens=codes, legacy_behaviour=legacy
    )
    model = _bart_kind(
        hf.M2M100ForConditionalGeneration, hf.M2M100Config, tokenizer, decoder_start_token_id=2
    )
    source = ("text", "</s>", "{source}") if legacy else ("{source}", "text", "</s>")
    return ToldModel(model, tokenizer, source, ("</s>", "{target}"), same)


def _nllb_legacy(folder: Path) -> ToldModel:
    return _nllb(folder, legacy=True)


def _mbart(_: Path) -> ToldModel:
    vocab = [*unigram(["<s>", "<pad>", "</s>", "<unk>"]), ("<mask>", 0.0)]
    tokenizer: Any = hf.MBartTokenizer(vocab=vocab)
    model = _bart_kind(hf.MBartForConditionalGeneration, hf.MBartConfig, tokenizer)
    return ToldModel(model, tokenizer, ("text", "</s>", "{source}"), ("{target}",), same)


def _mbart50(_: Path) -> ToldModel:
    vocab = unigram(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer: Any = hf.MBart50Tokenizer(vocab=vocab)
    model = _bart_kind(hf.MBartForConditionalGeneration, hf.MBartConfig, tokenizer)
    source = ("{source}", "text", "</s>")
    return ToldModel(model, tokenizer, source, ("</s>", "{target}"), same)


def _m2m(folder: Path) -> ToldModel:
    spm = _spm((*SENTENCES, *ROMANIAN), 160)
    (folder / "spm.model").write_bytes(spm.serialized_model_proto())
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *(spm.id_to_piece(n) for n in range(3, len(spm)))]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    (folder / "pieces.json").write_text(json.dumps(vocab), encoding="utf-8")
    tokenizer = hf.M2M100Tokenizer(str(folder / "pieces.json"), str(folder / "spm.model"))
    model = _bart_kind(
        hf.M2M100ForConditionalGeneration, hf.M2M100Config, tokenizer, decoder_start_token_id=2
    )
    source = ("{source}", "text", "</s>")
    return ToldModel(model, tokenizer, source, ("</s>", "{target}"), m2m_code)


def _madlad(_: Path) -> ToldModel:
    specials = ["<pad>", "</s>", "<unk>", "<2de>", "<2ro>", "<2zh>"]
    tokenizer = hf.T5Tokenizer(vocab=unigram(specials), extra_ids=0)
    config = hf.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,  # type: ignore[call-arg]  # any config takes it
        tie_word_embeddings=False,
    )
    source = ("▁", "{target}", "text", "</s>")
    model = hf.T5ForConditionalGeneration(config)
    return ToldModel(model, tokenizer, source, ("<pad>",), lambda code: f"<2{code}>")


def marian(folder: Path, codes: tuple[str, ...], **settings: str) -> ToldModel:
    """Return a Marian model whose vocabulary has tokens of targets."""
    source, target = _spm(SENTENCES, 90), _spm(ROMANIAN, 90)
    (folder / "source.spm").write_bytes(source.serialized_model_proto())
    (folder / "target.spm").write_bytes(target.serialized_model_proto())
    pieces = sorted({spm.id_to_piece(i) for spm in (source, target) for i in range(3, len(spm))})
    tokens = [f">>{code}<<" for code in codes]
    vocab = {piece: i for i, piece in enumerate(["</s>", "<unk>", *pieces, *tokens, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends sacremoses, which it does not use here
        tokenizer = hf.MarianTokenizer(
            source_spm=str(folder / "source.spm"),
            target_spm=str(folder / "target.spm"),
            vocab=str(folder / "vocab.json"),
            **settings,
        )
    pad = vocab["<pad>"]
    shape = bart_shape(len(vocab), 160)
    config = hf.MarianConfig(**shape, pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0)
    read = ("{target}", "text", "</s>") if codes else ("text", "</s>")
    return ToldModel(
        hf.MarianMTModel(config), tokenizer, read, ("<pad>",), lambda code: f">>{code}<<"
    )


def _marian(folder: Path) -> ToldModel:
    return marian(folder, ("deu", "ron", "pt_br", "pt_pt"))


_TOLD: dict[str, Callable[[Path], ToldModel]] = {
    "m2m": _m2m,
    "madlad": _madlad,
    "marian": _marian,
    "mbart": _mbart,
    "mbart50": _mbart50,
    "nllb": _nllb,
    "nllb_legacy": _nllb_legacy,
}


def saved(folder: Path, build: Callable[[Path], ToldModel]) -> ToldModel:
    """Build a model, and save it in a folder `model`."""
    with seeded():
        told = build(folder)
        randomised(told.model)
    told.model.save_pretrained(folder / "model")
    told.tokenizer.save_pretrained(folder / "model")
    tokenizer = hf.AutoTokenizer.from_pretrained(folder / "model")
    model = hf.AutoModelForSeq2SeqLM.from_pretrained(folder / "model", dtype="float32")
    return ToldModel(model, tokenizer, told.source, told.start, told.code)


def told_model(name: str, folder: Path) -> ToldModel:
    """Return a model by the name of its convention, saved in a folder `model`."""
    return saved(folder, _TOLD[name])
