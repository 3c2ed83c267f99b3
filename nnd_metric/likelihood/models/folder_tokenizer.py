"""The tokenizer of a folder is that of its tokenizer.json, whatever transformers makes of it.

For many families transformers 5 takes only the vocabulary out of the file, and builds the rest
(normaliser, pre-tokenizer, special tokens) from a class that it chooses by `model_type` or
`tokenizer_class`: https://github.com/huggingface/transformers/issues/45488.
"""

import json
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase, TokenizersBackend

from nnd.metric.text import panics_refused
from nnd.schemas import excerpt, read_json

PROBES = (
    "The ferry was late.",
    "It's the captain's; they'll say we've won, I'd bet",
    "CAN'T, won\u2019t — “quoted” … \u2018so\u2019",
    "In 1950 it cost 3,400.75 crowns (12 arches), 1000000 0x1F",
    " one space before,  two   three    four after  ",
    "tabs\tand\nlines\n\nand\r\nmore\n\n\n end \n",
    "\u00a0\u2009no-break\u200band zero\ufeffwidth\u2028",
    "Fähre, naïve café, cafe\u0301, Ångström, ﬁne ½ ²",
    "ŁÓDŹ Straße İstanbul ΣΊΣΥΦΟΣ ЁЖИК",
    "渡轮晚点了。東京タワーは高い、한국어 문장이다",
    "السفينة متأخرة، ١٢٣ שלום עולם हिन्दी ภาษาไทย",
    "👩‍👩‍👧 🇫🇷 👍🏽 ☕️ \U0001d4b3",
    "def f(x):\n    return {'a': x[0] != 1}  # _so_ == `it`\n",
    "http://example.org/a-b_c?d=%20&e=f#g me@mail.com",
    "<b>bold</b> [x](y) $x^2$ \\frac{a}{b} a/b @user #tag ~ * +",
    "ALLCAPS camelCaseWord snake_case_word Mc-Donald",
    "▁ ▁low Ġ Ċ ##ing </w> a▁b",
    "",
)
"""Texts with what families cut differently: contractions, digits, spaces, lines, accents, capitals,
scripts, emoji, code, addresses, and the marks that tokenizers use for spaces."""

_LANGUAGES = ("src_lang", "language")
"""Attributes of classes whose special tokens name a language that is set later."""

_LONGEST = 40


class FolderTokenizer(NamedTuple):
    """A tokenizer, and sentences on what was changed in it."""

    tokenizer: PreTrainedTokenizerBase
    notes: tuple[str, ...] = ()


def is_rebuilt(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a class of transformers takes only parts of a tokenizer.json, and builds the rest."""
    kind = type(tokenizer)
    return (
        isinstance(tokenizer, TokenizersBackend)
        and kind is not TokenizersBackend
        and "__init__" in vars(kind)
        and kind.__module__.startswith("transformers.")
    )


@panics_refused()
def restored(
    tokenizer: PreTrainedTokenizerBase, of_file: PreTrainedTokenizerBase
) -> FolderTokenizer:
    """Return a tokenizer with everything that its file says about cutting a text.

    `of_file` is what transformers reads from the same folder without a class, with the settings of
    tokenizer_config.json. The class stays for what it does around a text: codes of languages, and
    names of special tokens that old folders leave to it.
    """
    built, read = tokenizer.backend_tokenizer, of_file.backend_tokenizer
    if any(hasattr(tokenizer, name) for name in _LANGUAGES):
        read.post_processor = built.post_processor
    note = _difference(type(tokenizer).__name__, built, read)
    tokenizer._tokenizer = read  # noqa: SLF001 - it has no setter
    for name, token in tokenizer.special_tokens_map.items():
        if isinstance(token, str) and read.token_to_id(token) is None:
            setattr(tokenizer, name, None)  # of the class, which had added it to the vocabulary
    return FolderTokenizer(tokenizer, (note,) if note else ())


@panics_refused()
def contradiction(tokenizer: PreTrainedTokenizerBase, config: Path) -> str | None:
    """Return a sentence if the folder's two files disagree on special tokens around a text.

    transformers 4 followed tokenizer_config.json for some classes; 5 follows tokenizer.json.
    """
    settings = read_json(config, with_nul=True)
    plain, whole = (
        tokenizer.backend_tokenizer.encode("a", add_special_tokens=with_them).ids
        for with_them in (False, True)
    )
    for name, token, at in (
        ("add_bos_token", tokenizer.bos_token_id, 0),
        ("add_eos_token", tokenizer.eos_token_id, -1),
    ):
        wanted, added = settings.get(name), whole != plain and whole[at] == token
        if isinstance(wanted, bool) and token is not None and wanted != added:
            return (
                f"tokenizer_config.json says {name}: {json.dumps(wanted)}, but tokenizer.json "
                f"adds {'it' if added else 'none'}; the latter was followed, as transformers 5 does"
            )
    return None


def _difference(kind: str, built: Tokenizer, read: Tokenizer) -> str | None:
    """Return a sentence about the first text that two tokenizers cut differently."""
    added = [f"a {token.content} b" for token in read.get_added_tokens_decoder().values()]
    for specials in (False, True):
        texts = [*PROBES, *added]
        mine, theirs = (
            [each.ids for each in one.encode_batch(texts, add_special_tokens=specials)]
            for one in (built, read)
        )
        for text, ids, right in zip(texts, mine, theirs, strict=True):
            if ids != right:
                what = f"{excerpt(text, _LONGEST)!r} is {len(right)} tokens, not {len(ids)}"
                if len(ids) == len(right):
                    what = f"{excerpt(text, _LONGEST)!r} has other tokens"
                return (
                    "the tokenizer is that of the folder's tokenizer.json; transformers' "
                    f"AutoTokenizer ({kind}) cuts some texts differently (by the file, {what})"
                )
    return None
