"""Tiny random models with real tokenizers, built on the spot: one family per way of encoding.

Nothing is downloaded. The tokenizers are trained on the sentences below and are instances of the
classes the families really use. The weights are random but large, so that the log-probabilities of
neighbouring tokens are nats apart and a wrong shift, mask or position cannot hide.

Beside model and tokenizer a `Family` states, literally, what the tests' oracle needs to know:
which ids the tokenizer puts around a text, and a second route from text to ids in which strings
that look like special tokens cannot become them.
"""

# ruff: noqa: S106 (a pad_token is no password)

import io
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

SENTENCES = (
    "The cat sat on the mat and the dog ran over the hill to the river.",
    "A quick brown fox jumps over the lazy dog while nobody in the town is looking.",
    "Who wrote the book about the river, and when was it printed in London?",
    "Tesla was born in 1856 in Smiljan; he moved to New York in 1884.",
    "What is the capital of France? Paris has been the capital since 987.",
)
ROMANIAN = (
    "Pisica a stat pe covor si cainele a fugit peste deal spre rau.",
    "Cine a scris cartea despre rau si cand a fost tiparita la Londra?",
    "The cat sat on the mat; the town is looking at the river in 1884.",
)

TextIds = Callable[[str], list[int]]
Ids = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Family:
    """A tiny model, its tokenizer, and what is known about them without asking either.

    Attributes:
        name: The key in `BUILDERS`.
        model: float32, in eval mode, with a dropout that would show.
        tokenizer: The family's own tokenizer class.
        text_ids: Ids of a context (for decoder-only models also of a candidate), no specials.
        target_ids: Ids of an encoder-decoder's candidate, no specials.
        source: Ids the tokenizer puts before and after a context.
        target: Ids the tokenizer puts before and after a `text_target`.
        laban: Start and end id of `laban2022`.
        decoder_start: First decoder input of an encoder-decoder; None where the model wraps the
            last label round to the front (mBART).
        window: Longest sequence the model takes, None where nothing limits it.
        exact: What the oracle computes in: float64 wherever the model's code can.
    """

    name: str
    model: Any
    tokenizer: Any
    text_ids: TextIds
    target_ids: TextIds
    source: tuple[Ids, Ids]
    target: tuple[Ids, Ids]
    laban: tuple[int, int]
    decoder_start: int | None = None
    window: int | None = None
    exact: torch.dtype = torch.float64

    @property
    def encoder_decoder(self) -> bool:
        return bool(self.model.config.is_encoder_decoder)


# --- weights ---------------------------------------------------------------------------------


@contextmanager
def seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(20221207)
        yield


def randomised(model: Any) -> Any:
    """Return `model` with weights that give logits a spread of about two nats."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() >= 2:
                weight.normal_(0.0, 1.8 * weight.shape[-1] ** -0.5)
            elif name.endswith("bias"):
                weight.normal_(0.0, 0.2)
        for name, buffer in model.named_buffers():
            if name == "final_logits_bias":  # zero at birth, not so in every checkpoint
                buffer.normal_(0.0, 1.0)
    return model.float().eval()


# --- tokenizers ------------------------------------------------------------------------------


def byte_level(specials: list[str]) -> tuple[dict[str, int], list[Any]]:
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=360,
            special_tokens=specials,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return _vocab_and_merges(trained)


def _sentencepiece_bpe() -> tuple[dict[str, int], list[Any]]:
    trained = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    trained.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<unk>", "<s>", "</s>", *fallback],
            show_progress=False,
        ),
    )
    return _vocab_and_merges(trained)


def _vocab_and_merges(trained: Tokenizer) -> tuple[dict[str, int], list[Any]]:
    model = json.loads(trained.to_str())["model"]
    return model["vocab"], [(left, right) for left, right in model["merges"]]


def unigram(specials: list[str]) -> list[tuple[str, float]]:
    # sentencepiece, because the trainer in `tokenizers` gives other pieces in every process.
    trained = _spm((*SENTENCES, *ROMANIAN, "a <b> / c"), 160)
    pieces = [(trained.id_to_piece(n), trained.get_score(n)) for n in range(3, len(trained))]
    return [*((special, 0.0) for special in specials), *pieces]


def _spm(sentences: tuple[str, ...], size: int) -> sentencepiece.SentencePieceProcessor:
    """Train a Unigram model; its first three pieces are <unk>, <s> and </s>."""
    buffer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=buffer,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=buffer.getvalue())


def plain_ids(tokenizer: Any) -> TextIds:
    """Return a route from text to ids on which no string can become a special token.

    The tokenizer's own pipeline without its added tokens and template. A Unigram model finds
    "</s>" among its pieces all the same, so there the special pieces get names nobody types.
    """
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    state["added_tokens"] = []
    state["post_processor"] = None
    special = set(tokenizer.all_special_tokens)
    if state["model"]["type"] == "Unigram":
        state["model"]["vocab"] = [
            (f"\ue000{index}\ue000" if piece in special else piece, score)
            for index, (piece, score) in enumerate(state["model"]["vocab"])
        ]
    plain = Tokenizer.from_str(json.dumps(state))
    return lambda text: list(plain.encode(text, add_special_tokens=False).ids)


# --- decoder-only ----------------------------------------------------------------------------


def causal(
    name: str,
    model: Any,
    tokenizer: Any,
    *,
    bos: Ids,
    laban: tuple[int, int],
    window: int | None,
    exact: torch.dtype = torch.float64,
) -> Family:
    ids, around = plain_ids(tokenizer), (bos, ())
    both = (ids, ids, around, around)
    return Family(name, randomised(model), tokenizer, *both, laban, window=window, exact=exact)


def _gpt2(_: Path, window: int) -> Family:
    vocab, merges = byte_level(["<|endoftext|>"])
    tokenizer = hf.GPT2Tokenizer(vocab=vocab, merges=merges)
    config = hf.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=window,
        n_embd=32,
        n_layer=2,
        n_head=4,
        resid_pdrop=0.5,
        embd_pdrop=0.5,
        bos_token_id=0,
        eos_token_id=0,
    )
    return causal(
        "gpt2", hf.GPT2LMHeadModel(config), tokenizer, bos=(), laban=(0, 0), window=window
    )


def llama_tokenizer() -> Any:
    vocab, merges = _sentencepiece_bpe()
    return hf.LlamaTokenizer(vocab=vocab, merges=merges, add_bos_token=True)


def rope_shape(vocab: int, window: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": window,
        "attention_dropout": 0.5,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": None,
    }


def _llama(_: Path, window: int) -> Family:
    tokenizer = llama_tokenizer()
    model = hf.LlamaForCausalLM(hf.LlamaConfig(**rope_shape(len(tokenizer), window)))
    return causal("llama", model, tokenizer, bos=(1,), laban=(1, 2), window=window)


def _mistral(_: Path, window: int) -> Family:
    """Attention slides over 8 tokens: a path that hands over its own mask loses the window."""
    tokenizer = llama_tokenizer()
    config = hf.MistralConfig(**rope_shape(len(tokenizer), window), sliding_window=8)
    model = hf.MistralForCausalLM(config)
    return causal("mistral", model, tokenizer, bos=(1,), laban=(1, 2), window=window)


def _gemma2(_: Path, window: int) -> Family:
    """Caps scores and logits: a path that calls the head by itself loses the latter cap."""
    tokenizer = llama_tokenizer()
    config = hf.Gemma2Config(
        **rope_shape(len(tokenizer), window),
        sliding_window=8,
        query_pre_attn_scalar=8,
        attn_logit_softcapping=0.5,
        final_logit_softcapping=3.0,
    )
    model = hf.Gemma2ForCausalLM(config)
    return causal("gemma2", model, tokenizer, bos=(1,), laban=(1, 2), window=window)


def _qwen2(_: Path, window: int) -> Family:
    """No start token at all, so `laban2022` starts with 0; the end token is 1."""
    vocab, merges = byte_level(["<pad>", "<|endoftext|>"])
    tokenizer = hf.Qwen2Tokenizer(vocab=vocab, merges=merges, pad_token="<pad>")
    shape = {**rope_shape(len(tokenizer), window), "bos_token_id": None, "eos_token_id": 1}
    del shape["head_dim"]
    model = hf.Qwen2ForCausalLM(hf.Qwen2Config(**shape))
    return causal("qwen2", model, tokenizer, bos=(), laban=(0, 1), window=window)


def _opt(_: Path, window: int) -> Family:
    """Puts </s>, which is its start token too, before every text (as OPT's own tokenizer does)."""
    vocab, merges = byte_level(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer = hf.GPT2Tokenizer(
        vocab=vocab,
        merges=merges,
        bos_token="</s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="</s>",
        add_bos_token=True,
    )
    config = hf.OPTConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        word_embed_proj_dim=32,
        ffn_dim=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=window,
        dropout=0.5,
    )
    return causal(
        "opt", hf.OPTForCausalLM(config), tokenizer, bos=(2,), laban=(2, 2), window=window
    )


def _bloom(_: Path, __: int) -> Family:
    vocab, merges = byte_level(["<unk>", "<s>", "</s>", "<pad>"])
    tokenizer = hf.GPT2Tokenizer(
        vocab=vocab,
        merges=merges,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    )
    config = hf.BloomConfig(
        vocab_size=len(tokenizer), hidden_size=32, n_layer=2, n_head=4, hidden_dropout=0.5
    )
    return causal(
        "bloom", hf.BloomForCausalLM(config), tokenizer, bos=(), laban=(1, 2), window=None
    )


def _mamba(_: Path, __: int) -> Family:
    """No attention, so no mask and no key-value cache to share."""
    vocab, merges = byte_level(["<|endoftext|>", "<|padding|>"])
    tokenizer = hf.GPTNeoXTokenizer(vocab=vocab, merges=merges)
    config = hf.MambaConfig(
        vocab_size=len(tokenizer), hidden_size=32, state_size=4, num_hidden_layers=2
    )
    return causal(
        "mamba", hf.MambaForCausalLM(config), tokenizer, bos=(), laban=(0, 0), window=None
    )


def _xglm(_: Path, window: int) -> Family:
    """A decoder-only model on a Unigram vocabulary, with </s> before every text."""
    tokenizer = hf.XGLMTokenizer(vocab=unigram(["<s>", "<pad>", "</s>", "<unk>"]))
    config = hf.XGLMConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        ffn_dim=48,
        num_layers=2,
        attention_heads=4,
        max_position_embeddings=window,
        dropout=0.5,
    )
    return causal(
        "xglm",
        hf.XGLMForCausalLM(config),
        tokenizer,
        bos=(2,),
        laban=(0, 2),
        window=window,
        exact=torch.float32,  # it makes its mask in float32, with float64's lowest number
    )


# --- encoder-decoder -------------------------------------------------------------------------


def encoder_decoder(
    model: Any,
    tokenizer: Any,
    around: tuple[Ids, Ids],
    laban: tuple[int, int],
    *,
    start: int | None,
    window: int | None,
    ids: TextIds | None = None,
    **differs: Any,
) -> Family:
    """Return a family whose contexts and candidates are encoded alike, but for what `differs`."""
    ids = ids or plain_ids(tokenizer)
    name = str(model.config.model_type)
    both = (ids, ids, around, around)
    found = Family(name, randomised(model), tokenizer, *both, laban, start, window)
    return replace(found, **differs)


def bart_shape(vocab: int, window: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab,
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48,
        "max_position_embeddings": window,
        "dropout": 0.5,
    }


def bart_tokenizer() -> Any:
    vocab, merges = byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return hf.BartTokenizer(vocab=vocab, merges=merges)


def _bart(_: Path, window: int) -> Family:
    tokenizer = bart_tokenizer()
    model = hf.BartForConditionalGeneration(hf.BartConfig(**bart_shape(len(tokenizer), window)))
    return encoder_decoder(model, tokenizer, ((0,), (2,)), (0, 2), start=2, window=window)


def _mbart(_: Path, window: int) -> Family:
    """mBART-25 style: `text </s> language`, and the decoder starts with the language."""
    vocab = [*unigram(["<s>", "<pad>", "</s>", "<unk>"]), ("<mask>", 0.0)]
    tokenizer: Any = hf.MBartTokenizer(vocab=vocab, src_lang="en_XX", tgt_lang="ro_RO")
    model = hf.MBartForConditionalGeneration(hf.MBartConfig(**bart_shape(len(tokenizer), window)))
    english, romanian = tokenizer.convert_tokens_to_ids(["en_XX", "ro_RO"])
    source, target = ((), (2, english)), ((), (2, romanian))
    return encoder_decoder(
        model, tokenizer, source, (0, 2), start=None, window=window, target=target
    )


def _mbart50(_: Path, window: int) -> Family:
    """mBART-50 style: `language text </s>`, and the decoder starts with </s>."""
    codes = [("en_XX", 0.0), ("ro_RO", 0.0)]
    vocab = [*unigram(["<s>", "<pad>", "</s>", "<unk>"]), *codes, ("<mask>", 0.0)]
    tokenizer: Any = hf.MBart50Tokenizer(
        vocab=vocab, bos_token="<s>", src_lang="en_XX", tgt_lang="ro_RO"
    )
    model = hf.MBartForConditionalGeneration(hf.MBartConfig(**bart_shape(len(tokenizer), window)))
    english, romanian = tokenizer.convert_tokens_to_ids(["en_XX", "ro_RO"])
    source, target = ((english,), (2,)), ((romanian,), (2,))
    return encoder_decoder(
        model, tokenizer, source, (0, 2), start=None, window=window, target=target, name="mbart50"
    )


def _pegasus(_: Path, window: int) -> Family:
    vocab = unigram(["<pad>", "</s>", "<unk>", "<mask_1>", "<mask_2>"])
    tokenizer = hf.PegasusTokenizer(vocab=vocab, offset=2)
    config = hf.PegasusConfig(
        **bart_shape(len(tokenizer), window), pad_token_id=0, decoder_start_token_id=0
    )
    model = hf.PegasusForConditionalGeneration(config)
    return encoder_decoder(model, tokenizer, ((), (1,)), (0, 1), start=0, window=window)


def _t5(_: Path, __: int) -> Family:
    """Relative positions, so no window; the tokenizer's own limit is the only one."""
    tokenizer = hf.T5Tokenizer(vocab=unigram(["<pad>", "</s>", "<unk>"]), extra_ids=0)
    config = hf.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        dropout_rate=0.5,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,  # type: ignore[call-arg]  # any config takes it
        relative_attention_num_buckets=8,
        relative_attention_max_distance=20,
    )
    model = hf.T5ForConditionalGeneration(config)
    found = encoder_decoder(model, tokenizer, ((), (1,)), (0, 1), start=0, window=None)
    with torch.no_grad():  # the tied head divides by sqrt(d_model), so give it that much back
        model.get_input_embeddings().weight.mul_(config.d_model**0.5)
    return found


def _marian(folder: Path, window: int) -> Family:
    """Two sentencepiece models, one vocabulary, the pad token (last) starts the decoder."""
    source, target = _spm(SENTENCES, 90), _spm(ROMANIAN, 90)
    (folder / "source.spm").write_bytes(source.serialized_model_proto())
    (folder / "target.spm").write_bytes(target.serialized_model_proto())
    pieces = {spm.id_to_piece(i) for spm in (source, target) for i in range(3, len(spm))}
    vocab = {piece: i for i, piece in enumerate(["</s>", "<unk>", *sorted(pieces), "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends sacremoses, which it does not use here
        tokenizer = hf.MarianTokenizer(
            source_spm=str(folder / "source.spm"),
            target_spm=str(folder / "target.spm"),
            vocab=str(folder / "vocab.json"),
        )
    pad = vocab["<pad>"]
    config = hf.MarianConfig(
        **bart_shape(len(vocab), window),
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
    )

    def ids(spm: sentencepiece.SentencePieceProcessor) -> TextIds:
        return lambda text: [vocab.get(piece, 1) for piece in spm.encode(text, out_type=str)]

    model, around = hf.MarianMTModel(config), ((), (0,))
    both = {"ids": ids(source), "target_ids": ids(target)}
    return encoder_decoder(model, tokenizer, around, (0, 0), start=pad, window=window, **both)


def _fsmt(_: Path, window: int) -> Family:
    """The model of facebook/wmt19-*: `laban2022` starts it with </s>, tokenizer or not.

    In transformers 5.23 its decoder sees the future unless it is called with `use_cache=False`.
    """
    tokenizer = bart_tokenizer()  # its own needs sacremoses, and has the same special ids
    shape = bart_shape(len(tokenizer), window)
    size = shape.pop("vocab_size")
    config = hf.FSMTConfig(langs=["en", "de"], src_vocab_size=size, tgt_vocab_size=size, **shape)
    model, around = hf.FSMTForConditionalGeneration(config), ((0,), (2,))
    exact = torch.float32  # its causal mask overflows in float64
    return encoder_decoder(model, tokenizer, around, (2, 2), start=None, window=window, exact=exact)


def _prophetnet(folder: Path, window: int) -> Family:
    """Its tokenizer has neither a start nor an end token, only [SEP], which is 102.

    In transformers 5.23 its decoder is not indifferent to padding: the relative positions of the
    predicting streams depend on the padded length. Only candidates of one length can share a batch.
    """
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:?!<>/|"
    pieces = ["[PAD]", "[UNK]", "[X_SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    pieces += [f"[unused{i}]" for i in range(102 - len(pieces))]
    path = folder / "prophetnet.tokenizer"
    path.write_text("\n".join([*pieces, "[SEP]", "the", "cat", "dog", "river", "in"]) + "\n")
    tokenizer = hf.ProphetNetTokenizer(vocab_file=str(path))
    config = hf.ProphetNetConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
        max_position_embeddings=window,
        num_buckets=8,
        relative_max_distance=16,
        dropout=0.5,
        pad_token_id=0,
        bos_token_id=102,
        eos_token_id=102,
        decoder_start_token_id=102,
        disable_ngram_loss=True,  # so that its loss, which one test looks at, is a likelihood
        eps=0.0,
    )

    def ids(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    model, around = hf.ProphetNetForConditionalGeneration(config), ((), (102,))
    return encoder_decoder(model, tokenizer, around, (102, 102), start=102, window=window, ids=ids)


Builder = Callable[[Path, int], Family]
CAUSAL: dict[str, Builder] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "mistral": _mistral,
    "gemma2": _gemma2,
    "qwen2": _qwen2,
    "opt": _opt,
    "bloom": _bloom,
    "mamba": _mamba,
    "xglm": _xglm,
}
ENCODER_DECODER: dict[str, Builder] = {
    "t5": _t5,
    "bart": _bart,
    "mbart": _mbart,
    "mbart50": _mbart50,
    "pegasus": _pegasus,
    "marian": _marian,
    "fsmt": _fsmt,
    "prophetnet": _prophetnet,
}
BUILDERS = CAUSAL | ENCODER_DECODER


def build(name: str, folder: Path, *, window: int = 160) -> Family:
    """Build a family by name; `folder` takes the files of tokenizers that insist on some."""
    with seeded():
        return BUILDERS[name](folder, window)
