"""Checks of contexts: are they texts, and the ones that the candidates were written for?"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.converters.check.check_report import Verdict, judged
from nnd.converters.check.checked_data import CheckedData
from nnd.schemas import CONTEXT, counted, excerpt, fold, listed

_SHORT = 20
"""Fewest bytes of a context that says enough to write something for it."""

_MANY_SHORT = 0.2
_MANY_IDS = 0.1
_ID = r"^[A-Za-z0-9_.:/#@-]{1,80}$"

_MOST_CONTEXTS = 1_000
_LEAST_CONTEXTS = 20
_RARE = 0.1
"""Largest share of the contexts that a word may be in, to say which context a text is about."""

_LONGEST_WORD = 20
"""Most characters of a word; longer ones are texts in a script without blanks."""

_SURE = 3.0
"""Standard errors of a difference that is not taken for chance."""

_LONG = 25
"""Fewest bytes of a text that is not repeated by chance."""

_PART = 0.8
"""Largest share of a context that something else in it takes: a copy of the whole is no leak."""

_MANY_INSIDE, _ALL_INSIDE, _LEAST_TEXTS = 0.2, 0.9, 10

_NO_CONTEXT = {"gold", "label", "labels", "reference", "references", "score", "system", "target"}
"""Names of parts that a system did not see."""

_FEW = 0.01


def check_contexts(data: CheckedData) -> Verdict:
    """Check that contexts are texts, and not their ids."""
    texts = data.contexts["context"]
    n = len(texts)
    blank = int((texts.str.strip_chars() == "").sum())
    if blank == n:
        return "pass", "the pairs have no contexts", ""
    ids = texts.filter(texts.str.contains(_ID) & (texts != ""))
    short = texts.filter((texts.str.len_bytes() < _SHORT) & (texts != ""))
    found = list[str]()
    if len(ids) >= _MANY_IDS * n:
        found.append(f"{len(ids):,} of {n:,} contexts look like ids, such as {_quoted(ids[0])}")
    elif len(short) >= _MANY_SHORT * n:
        found.append(
            f"{len(short):,} of {n:,} contexts have less than {_SHORT} bytes, such as "
            f"{_quoted(short[0])}"
        )
    if blank:
        found.append(f"{blank:,} of {n:,} contexts are empty")
    remedy = "read the column that has the text, or join it by the id"
    return judged("review", found, remedy, f"{counted(n, 'context')}, none like an id")


def check_own_context(data: CheckedData) -> Verdict:
    """Check that better texts are about their own contexts, and not about others.

    The rarer words of a better text are looked for in its own context, in the ones before and after
    it, and in one far away. Where the languages differ, lengths decide: those of a text and of its
    own context rise together.
    """
    rows = data.contexts.drop_nulls("better").head(_MOST_CONTEXTS)
    contexts = [_words(text) for text in rows["context"]]
    better = [_words(text) for text in rows["better"]]
    n = len(contexts)
    if n < _LEAST_CONTEXTS or not any(contexts):
        return "pass", f"{counted(n, 'context')}, too few to compare", ""
    common = Counter(word for words in contexts for word in words)
    rare = [{word for word in words if common[word] <= max(2, _RARE * n)} for words in better]
    own, before, after, far = (_shares(rare, contexts, shift) for shift in (0, n - 1, 1, n // 2))
    remedy = "join contexts and candidates by their key, not by the order of the rows"
    for name, other in (("previous", before), ("next", after)):
        if _standard_errors(other - own) >= _SURE:
            message = (
                f"better texts fit the {name} context better than their own: {_percent(other)} of "
                f"their rarer words are in it, {_percent(own)} in their own"
            )
            return "review", message, remedy
    seen = f"{_percent(own)} of the rarer words of better texts are in their own context"
    if _standard_errors(own - far) >= _SURE:
        return "pass", f"{seen}, {_percent(far)} in another one", ""
    if _rise_together(rows) >= _SURE:
        return "pass", "the lengths of better texts and of their own contexts rise together", ""
    message = f"{seen}, and {_percent(far)} in another one: they may not belong together"
    return "review", message, remedy


def _words(text: str) -> set[str]:
    """Return the words of a text; of a script without blanks, pairs of characters."""
    found = set[str]()
    for word in re.findall(r"[^\W_]+", text.lower()):
        is_word = len(word) <= _LONGEST_WORD
        found |= {word} if is_word else {word[at : at + 2] for at in range(len(word) - 1)}
    return found


def _shares(
    texts: Sequence[set[str]], contexts: Sequence[set[str]], shift: int
) -> npt.NDArray[np.float64]:
    """Return for each text the share of its words in a context; NaN for a text without words."""
    n = len(contexts)
    return np.array(
        [
            len(words & contexts[(number + shift) % n]) / len(words) if words else np.nan
            for number, words in enumerate(texts)
        ]
    )


def _standard_errors(differences: npt.NDArray[np.float64]) -> float:
    """Return the mean of differences in standard errors; 0 if they are too few."""
    known = differences[~np.isnan(differences)]
    if len(known) < _LEAST_CONTEXTS or not known.any():
        return 0.0
    error = known.std(ddof=1) / math.sqrt(len(known))
    return float(known.mean() / error) if error else math.copysign(math.inf, known.mean())


def _rise_together(rows: pl.DataFrame) -> float:
    """Return the correlation of the lengths of contexts and better texts, in standard errors."""
    lengths = (pl.col(name).str.len_bytes().log1p() for name in ("context", "better"))
    r = rows.select(pl.corr(*lengths)).item()
    if r is None or not math.isfinite(r):
        return 0.0
    return float(r * math.sqrt((rows.height - 2) / max(1 - r * r, 1e-9)))


def check_in_context(data: CheckedData) -> Verdict:
    """Check that contexts do not contain what should have been written for them."""
    found = [*_parts_of_answers(data), *_references_inside(data), *_candidates_inside(data)]
    remedy = "take out of the context what the systems did not see (fine for systems that copy)"
    n = data.texts.height
    return judged("review", found, remedy, f"few of {n:,} texts stand in their contexts")


def _parts_of_answers(data: CheckedData) -> Iterator[str]:
    parts = data.contexts.select(part=pl.col("inputs").explode()).drop_nulls()
    names: list[str] = parts["part"].struct.field("key").unique().sort().to_list()
    wrong = [name for name in names if {*re.findall("[a-z]+", name.lower())} & _NO_CONTEXT]
    if wrong:
        yield f"the context has a part called {listed(wrong)}"


def _references_inside(data: CheckedData) -> Iterator[str]:
    known = [*CONTEXT, "context"]
    references = data.all_references.join(data.contexts, on=CONTEXT, nulls_equal=True)
    references = references.filter(pl.col("reference").str.len_bytes() >= _LONG)
    contexts = references.group_by(known).agg(_is_inside("reference").any())
    n, inside = contexts.height, int(contexts["is_inside"].sum())
    if n >= _LEAST_TEXTS and inside >= _MANY_INSIDE * n:
        yield f"{inside:,} of {n:,} contexts contain one of their references"


def _candidates_inside(data: CheckedData) -> Iterator[str]:
    n, inside = _count_inside(data.texts)
    if n >= _LEAST_TEXTS and inside >= _MANY_INSIDE * n:
        yield f"{inside:,} of {n:,} candidates stand in their contexts"
        return
    for (system,), rows in data.texts.drop_nulls("system").group_by("system", maintain_order=True):
        n, inside = _count_inside(rows)
        if n >= _LEAST_TEXTS and inside >= _ALL_INSIDE * n:
            yield f"{inside:,} of {n:,} candidates of {system} stand in their contexts"


def _count_inside(texts: pl.DataFrame) -> tuple[int, int]:
    """Return how many candidates are long, and how many of these are a part of their contexts."""
    long = texts.filter(pl.col("candidate").str.len_bytes() >= _LONG)
    return long.height, int(long.select(_is_inside("candidate").sum()).item() or 0)


def _is_inside(column: str) -> pl.Expr:
    text, context = fold(pl.col(column)), fold(pl.col("context"))
    is_part = text.str.len_bytes() <= _PART * context.str.len_bytes()
    # `contains` would compile a single text as a pattern, which fails beyond 500,000 characters.
    is_found = context.str.splitn(text, 2).struct[1].is_not_null()
    return (is_part & is_found).alias("is_inside")


def check_duplicates(data: CheckedData) -> Verdict:
    """Check that a context has one id, so that its candidates are compared."""
    parts = pl.col("inputs").list.eval(pl.element().struct.json_encode()).list.join("\n")
    contexts = data.contexts.with_columns(text=fold(pl.col("context")), parts=parts)
    contexts = contexts.filter(pl.col("text").str.len_bytes() >= _LONG)
    ids = contexts.group_by("split", "text", "parts").agg(pl.col("context_id").n_unique())
    several = ids.filter(pl.col("context_id") > 1)
    found = list[str]()
    if several.height > _FEW * ids.height:
        first = _quoted(several.sort("text")["text"][0])
        found.append(
            f"{several.height:,} of {ids.height:,} contexts have several ids, such as {first}"
        )
    remedy = "give each context one context_id: intervals count its tests together"
    return judged("review", found, remedy, f"{ids.height:,} contexts, each with one id")


def _quoted(text: str) -> str:
    return f'"{excerpt(text, 40)}"'


def _percent(shares: npt.NDArray[np.float64]) -> str:
    return f"{np.nanmean(shares):.0%}"
