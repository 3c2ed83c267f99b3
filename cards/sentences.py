"""Sentences of a card that hold numbers: written from the data, and checked against it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from nnd.cards.asked import ASKED, asked_sentences
from nnd.cards.content import CardContent, counts, tally
from nnd.cards.markdown import code, escape, one_visible_line
from nnd.cards.validity import MADE_PAIRS, validity_sentences
from nnd.schemas import DISTINCT, counted, few_clusters_in_words

_FEW = 30
_UNEVEN = 0.6
_APART = 0.2


def card_sentences(content: CardContent) -> dict[str, list[str]]:
    """Return section of a card → the sentences that it must hold; "" is the opening."""
    permission = content.manifest.get("permission")
    return {
        "": [_summary(content)],
        ASKED: asked_sentences(content),
        "How people judged": _agreement(content.manifest),
        MADE_PAIRS: [] if content.validity is None else validity_sentences(content.validity),
        "Limitations": _limits(content),
        "Personal and sensitive information": _contacts(content.contacts),
        "Licence and redistribution": [f"Published with permission: {_quoted(permission)}"]
        if permission
        else [],
        "Provenance": [*_unverified(content)],
    }


def _summary(content: CardContent) -> str:
    """Return a sentence with the number of tests, their task and what they were made from."""
    n, source = counts(content), content.source
    task = escape(source["task"].replace("-", " "))
    systems = f"of {counted(n['systems'], 'system')} " if n["systems"] else ""
    made, n_contexts = f", made from human judgements {systems}on", n["contexts"]
    if source.get("origin") == "constructed" and n["pairs"]:
        made, n_contexts = " with errors made on purpose, in", n["contexts with a pair"]
    shared = content.manifest["counts"].get("clusters")
    of = f" from {counted(shared, escape(source['cluster']))}" if shared else ""
    contexts = f"{counted(n_contexts, 'context')}{of} ({', '.join(map(code, content.languages))})"
    if not n["pairs"]:
        judged = counted(n["candidates"], "judged candidate")
        return (
            f"**{judged} for {task}** {systems}on {contexts}. Each "
            "context has one candidate, so there are no tests: the judgements show how well "
            "metrics agree with people (`nnd metrics`)."
        )
    return f"**{counted(n['pairs'], 'test')} for {task}**{made} {contexts}."


def _agreement(manifest: Mapping[str, Any]) -> list[str]:
    """Return sentences on how far annotators agree, where candidates were judged repeatedly."""
    alphas: dict[str, list[str]] = {"ratings (interval)": [], "labels (nominal)": []}
    for aspect, of in manifest.get("agreement", {}).items():
        alpha = "not defined" if of["alpha"] is None else format(of["alpha"], ".2f")
        n, units = counted(of["n_ratings"], "judgement"), counted(of["n_units"], "candidate")
        what = "ratings (interval)" if of["level"] == "interval" else "labels (nominal)"
        alphas[what].append(f"{alpha} for {code(aspect)} ({n} of {units})")
    return [
        f"Krippendorff's alpha of the {what} is {', '.join(some)}; 1 is perfect agreement, and 0 "
        "is agreement by chance."
        for what, some in alphas.items()
        if some
    ]


def _limits(content: CardContent) -> list[str]:
    n = counts(content)
    if not n["pairs"]:
        return ["The candidates make no pair, so no model can be evaluated."]
    pairs, contexts = counted(n["pairs"], "pair"), counted(n["contexts with a pair"], "context")
    name = content.source.get("cluster")
    clusters = content.pairs.select("split", pl.coalesce("cluster", "context_id")).n_unique()
    of, over = "", "contexts"
    if name is not None:
        of = f" in {counted(clusters, escape(name))}"
        over = f"{escape(name)}s, which contexts share"
    sentences = [
        f"The test set has {pairs} from {contexts}{of}, so intervals are computed over {over}."
    ]
    if name is not None and (warning := few_clusters_in_words(clusters, escape(name))):
        sentences.append(f"{warning[0].upper()}{warning[1:]}.")
    sentences += contradiction_warning(content.manifest)
    if content.source.get("origin") == "constructed":
        sentences.append(
            "The errors were made on purpose. They are not a sample of the errors of any system, "
            "so pass rates cannot be compared with human scores of systems."
        )
    years = re.findall(r"\byear\s*=\s*[{\"]?\s*(\d{4})", content.source["citation"], re.IGNORECASE)
    if years and n["systems"]:
        sentences.append(
            f"The low candidates were written by systems of {max(years)} or before. A model that "
            "makes other mistakes can still pass."
        )
    tallied = tally(content.pairs, "error_category") + tally(content.pairs, "category")
    few = [f"{code(name)} ({k})" for name, k in tallied if k < _FEW]
    if few:
        sentences.append(
            f"Categories with too few pairs for a pass rate of their own: {', '.join(few)}."
        )
    if any(not tag.startswith("en") for tag in content.languages):
        sentences.append("Agreement with human judgements has been shown for English only.")
    return [*sentences, *_length_sentences(content), *_checks(content.manifest)]


def _checks(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the checks of the pairs found, if they were made."""
    if "checks" in manifest:
        found = "; ".join(map(escape, manifest["checks"]))
        yield f"`nnd check` found: {found or 'nothing that needs a look'}."


def _length_sentences(content: CardContent) -> list[str]:
    distinct = content.pairs.unique(DISTINCT)
    high, low = (distinct[f"candidate_{side}"].str.len_chars() for side in ("high", "low"))
    n = max(distinct.height, 1)
    rates = length_rates(int((high < low).sum()) / n, int((high > low).sum()) / n)
    texts = content.manifest["hygiene"].get("texts")
    means = (texts and texts[side]["mean_characters"] for side in ("high", "low"))
    return [
        f"Length gives much away: always picking the {name} candidate would pass "
        f"{100 * rate:.1f} %."
        for name, rate in rates.items()
        if rate >= _UNEVEN
    ] + length_warning(*means)


def length_rates(shorter: float, longer: float) -> dict[str, float]:
    """Return the pass rates of picking by length, where a test of equal lengths counts half.

    `shorter` is the share of the tests whose better candidate is shorter, `longer` of those whose
    better candidate is longer.
    """
    return {"longer": (1 + longer - shorter) / 2, "shorter": (1 + shorter - longer) / 2}


def contradiction_warning(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield how far contradictory judgements limit every model, if there are any."""
    counts = manifest["counts"]
    if counts["both_directions"]:
        several = len(manifest["source"]["aspects"]) > 1
        yield (
            f"{'Aspects or annotators' if several else 'Annotators'} disagree: "
            f"{counts['both_directions']:,} of the distinct pairs occur in both directions, so no "
            f"model can pass more than {100 * counts['highest_pass_rate']:.1f} %."
        )


def length_warning(high: float | None, low: float | None) -> list[str]:
    """Return how much the mean lengths of better and worse candidates differ, if by more than 20 %.

    The means are in characters, None where there are none; the difference is a share of `high`.
    """
    if high is None or low is None or abs(low - high) <= _APART * high:
        return []
    share = f"{100 * abs(low - high) / high:.0f} % " if high else ""
    apart = f"{share}{'longer' if low > high else 'shorter'}"
    means = f"{low:.1f} and {high:.1f} characters"
    return [f"Worse candidates are {apart} than better ones on average ({means})."]


def _contacts(treatment: Mapping[str, Any]) -> list[str]:
    if "redacted" in treatment:
        email, ip = (treatment["redacted"].get(kind, 0) for kind in ("email", "ip"))
        return [
            f"E-mail and IP addresses were replaced: {email:,} by `<email>` and {ip:,} by `<ip>`."
        ]
    if "kept" in treatment:
        return [f"E-mail and IP addresses were kept: {_quoted(treatment['kept'])}"]
    return []


def _unverified(content: CardContent) -> Iterator[str]:
    """Yield why files that differ from the declared ones were read, and how the counts differ."""
    manifest = content.manifest
    if "accept_changed" in manifest:
        reason = _quoted(manifest["accept_changed"])
        yield f"A file that differs from the declared one was accepted: {reason}"
    if "unverified" in manifest:
        yield f"Published although not all files are verified: {_quoted(manifest['unverified'])}"
    if not content.declared and (differences := count_differences(manifest)):
        yield f"Counts differ from those of the declared files: {', '.join(differences)}."


def count_differences(manifest: Mapping[str, Any]) -> list[str]:
    """Return the counts that differ from those that the declared files are known to give."""
    expected = manifest["source"]["expected"] or {}
    return [
        f"{manifest['counts'][name]:,} {name} instead of {n:,}"
        for name, n in expected.items()
        if isinstance(n, int) and manifest["counts"].get(name, n) != n
    ]


def _quoted(text: str) -> str:
    return f"“{escape(one_visible_line(text))}”"
