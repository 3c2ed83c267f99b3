"""The tokenizer that a GGUF file's keys mean: transformers' one, with what it leaves out."""

from collections.abc import Mapping
from types import MappingProxyType

from tokenizers import Regex, decoders, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerBase

from nnd.metric.likelihood.models.gguf.gguf_file import GGUFFile
from nnd.metric.likelihood.models.gguf.pre_tokenizers import CUTS, GPT2

_SPACE = "tokenizer.ggml."
_BYTES, _PIECES, _UNIGRAM = "gpt2", "llama", "t5"
_READ = frozenset(
    {
        *("model", "pre", "tokens", "scores", "merges", "token_type", "precompiled_charsmap"),
        *("bos_token_id", "eos_token_id", "unknown_token_id", "padding_token_id"),
        *("add_bos_token", "add_eos_token", "add_space_prefix"),
    }
)
_IDLE: Mapping[str, str] = MappingProxyType(
    {
        "eot_token_id": "it ends what is generated",
        "eom_token_id": "it ends what is generated",
        "eog_token_ids": "they end what is generated",
        "suppress_tokens": "they are not generated",
        "seperator_token_id": "only encoders put it between texts",
        "mask_token_id": "only encoders hide tokens",
        "add_sep_token": "only encoders put a separator between texts",
        "token_type_count": "only encoders tell texts apart",
        "remove_extra_whitespaces": "of the tokenizers that are read, only T5's do, and always",
        **{
            f"{name}_token_id": "it is for filling gaps"
            for name in (
                *("fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"),
                *("prefix", "suffix", "middle"),
            )
        },
    }
)
_GEMMAS = frozenset({"gemma", "gemma2", "gemma3"})


def check_tokenizer(file: GGUFFile) -> None:
    """Check that every key of the tokenizer is known, and that texts can be cut as it says.

    Raises ScoringError that names the key.
    """
    for key in file.reader.fields:
        name = key.removeprefix(_SPACE)
        if key.startswith(_SPACE) and name not in _READ and name not in _IDLE:
            raise file.refusal(key, "what it changes is not known", whole=True)
    kind = file.field(f"{_SPACE}model", "")
    if kind not in {_BYTES, _PIECES, _UNIGRAM, "gemma4"}:
        raise file.refusal(f"{_SPACE}model", "gpt2, llama and t5 are read", whole=True)
    if kind == _BYTES:
        _name_of_cut(file)
    if file.architecture in _GEMMAS and file.field(f"{_SPACE}add_space_prefix", False):
        raise file.refusal(f"{_SPACE}add_space_prefix", "Gemma's tokenizer adds none", whole=True)


def complete_tokenizer(tokenizer: PreTrainedTokenizerBase, file: GGUFFile) -> None:
    """Set what transformers does not read from the file."""
    kind = file.field(f"{_SPACE}model", "")
    if kind == _BYTES:
        _cut(tokenizer, file)
    elif kind == _PIECES and not file.field(f"{_SPACE}add_space_prefix", True):
        _drop_prefix(tokenizer)
    elif kind == _UNIGRAM and (map_ := file.field(f"{_SPACE}precompiled_charsmap", None)):
        backend = tokenizer.backend_tokenizer
        backend.normalizer = normalizers.Precompiled(bytes(each % 256 for each in map_))


def _name_of_cut(file: GGUFFile) -> str:
    """Return the name of the pattern; GPT-2's own where the file of a GPT-2 has none.

    Raises ScoringError if it is not known.
    """
    key = f"{_SPACE}pre"
    name = str(file.field(key, "absent"))
    if name in {"absent", "default"} and file.architecture == "gpt2":
        return "gpt-2"
    if name not in CUTS:
        unknown = name in {"absent", "default"}
        why = "it does not say how texts are cut" if unknown else "texts cannot be cut by it"
        raise file.refusal(key, why, whole=True)
    return name


def _cut(tokenizer: PreTrainedTokenizerBase, file: GGUFFile) -> None:
    cut, backend = CUTS[_name_of_cut(file)], tokenizer.backend_tokenizer
    if cut is not GPT2:  # transformers' default
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [
                *(pre_tokenizers.Split(Regex(each), "isolated") for each in cut.patterns),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    if cut.whole_pieces:
        backend.model.ignore_merges = True
    if cut.bos and file.field(f"{_SPACE}add_bos_token", None) is None:
        tokenizer.add_bos_token = True


def _drop_prefix(tokenizer: PreTrainedTokenizerBase) -> None:
    """Leave out the blank that transformers puts before a text whatever the file says."""
    backend = tokenizer.backend_tokenizer
    if isinstance(backend.pre_tokenizer, pre_tokenizers.Metaspace):
        backend.pre_tokenizer.prepend_scheme = "never"
        tokenizer.add_prefix_space = False
    elif isinstance(backend.normalizer, normalizers.Sequence):
        backend.normalizer = normalizers.Replace(" ", "▁")
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
