"""The existing run in a folder to which another model is added."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from nnd.metric.data import (
    RESULT,
    PairSet,
    contexts_of,
    describe_splits,
    read_run,
    read_sets,
    read_tokens,
    splits_in,
)
from nnd.metric.likelihood import Scoring, place_of
from nnd.metric.numbers import has_present_rule, is_chat, pass_rates
from nnd.metric.run.model_cost import COST, ModelCost, read_costs
from nnd.metric.run.model_result import ModelResult, ScoredModel
from nnd.metric.text import NONE, Chat, LanguageOptions, choose_template, describe_options
from nnd.schemas import SchemaError, ScoringError, read_document


class KeptRun(NamedTuple):
    """The models of an earlier run that are kept, and what the user chose for them.

    `costs` has (model, signature) → what a result cost to compute, also of those that are not kept.
    """

    models: tuple[ScoredModel, ...] = ()
    systems: Mapping[str, str] = MappingProxyType({})
    templates: Mapping[str, str] = MappingProxyType({})
    costs: Mapping[tuple[str, str], ModelCost] = MappingProxyType({})

    def with_cost(self, scored: ScoredModel) -> ScoredModel:
        """Return a result with what it cost to compute, if nothing was computed this time."""
        if scored.cost is None or scored.cost.tokens:
            return scored
        same = (scored.result.model, scored.result.signature)
        return scored._replace(cost=self.costs.get(same, scored.cost))


def read_kept(
    folder: Path | None,
    pairs: PairSet,
    scoring: Scoring,
    models: Mapping[str, Scoring],
    done: Collection[str],
) -> KeptRun:
    """Return the other models of a run in a folder; none without a run.

    The run must have the same pairs, and models whose results can be combined with the new ones.
    """
    if folder is None or not (folder / RESULT).is_file():
        return KeptRun()
    scored, children, tokens = read_run(folder), read_sets(folder), read_tokens(folder)
    stored, costs = read_document(folder / RESULT), read_costs(folder / COST)
    with _readable(folder):
        problem = _find_difference(stored, scored, pairs, scoring, models)
        problem = problem or _find_other_sets(children, pairs)
        there = ", ".join(each["model"] for each in stored["results"])
    if problem is not None:
        raise ScoringError(
            "place.holds-a-run", f"this folder holds a run of {there}, scored {problem}", folder
        )
    places = {*map(place_of, done)}
    with _readable(folder):
        kept = tuple(
            _scored_model(each, scored, children, tokens, costs)
            for each in stored["results"]
            if place_of(each["model"]) not in places
        )
        names = [each.result.model for each in kept]
        systems, templates = (
            {model: own for model, own in stored.get(key, {}).items() if model in names}
            for key in ("systems", "templates")
        )
        computed = {
            (each["model"], each["signature"]): costs[each["model"]]
            for each in stored["results"]
            if each["model"] in costs and costs[each["model"]].tokens
        }
    return KeptRun(kept, systems, templates, computed)


def _scored_model(
    result: Mapping[str, Any],
    scored: pl.DataFrame,
    children: pl.DataFrame,
    tokens: pl.DataFrame,
    costs: Mapping[str, ModelCost],
) -> ScoredModel:
    model = result["model"]
    own, of_sets, its_tokens = (
        rows.filter(pl.col("model") == model) for rows in (scored, children, tokens)
    )
    found = ModelResult.from_dict(result, rates=pass_rates(own))
    return ScoredModel(found, own, of_sets, its_tokens, costs.get(model))


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError, SchemaError) as error:
        raise ScoringError(
            "place.holds-a-run", f"models cannot be added to its {RESULT}", folder
        ) from error


def _find_difference(
    stored: Mapping[str, Any],
    scored: pl.DataFrame,
    pairs: PairSet,
    scoring: Scoring,
    models: Mapping[str, Scoring],
) -> str | None:
    """Return how stored results differ from new ones, or None.

    A kept model may have a template that was chosen for it alone.
    """
    if {*scored["pair_id"]} != {*pairs.pairs["pair_id"]}:
        splits = splits_in(scored)
        named = f" ({describe_splits(splits)})" if splits and splits != [*pairs.splits] else ""
        return f"on other pairs{named} than {pairs.title}"
    own = {*stored.get("templates", {})}.difference(models)
    for result in stored["results"]:
        asked = models.get(result["model"], scoring)
        there = (result["protocol"], result["template"])
        chosen = choose_template(
            asked.template,
            result["model"],
            contexts_of(pairs.pairs),
            pairs.instruction,
            as_chat=is_chat(result),
        )
        is_own = result["model"] in own
        now = (asked.protocol, result["template"] if is_own else chosen.name)
        older = {"asked": Chat(NONE).stored().to_dict()}  # older versions read plain text
        chats = [
            describe_options(chat)
            for chat in ((result.get("chat") or older)["asked"], asked.chat.stored().to_dict())
        ]
        has_template = "|sep:" in result["signature"]  # only of some protocols and models
        may_be_chat = has_template and (is_chat(result) or asked.chat.template != NONE)
        if chats[0] != chats[1] and may_be_chat:
            return f"with {chats[0]}, not {chats[1]}"
        if there != now:
            return f"with protocol {there[0]} and template {there[1]}, not {now[0]} and {now[1]}"
        words = (result.get("instruction"), chosen.instruction)
        other = _find_other_languages(result, asked)
        if words[0] != words[1] and not is_own:
            other = f"with other words of the instruction (instr:{words[0]}, not instr:{words[1]})"
        if other is not None:
            return other
    if not all(has_present_rule(each["signature"]) for each in stored["results"]):
        return "by an earlier version of nnd, which scored other tokens"
    return None


def _find_other_languages(result: Mapping[str, Any], asked: Scoring) -> str | None:
    """Return what a model was given, if it was given languages and now others are asked for."""
    languages = result.get("languages")
    if languages is None or LanguageOptions.from_dict(languages["asked"]) == asked.languages:
        return None
    return f"with the languages {', '.join(languages['given'])}, asked for by other options"


def _find_other_sets(children: pl.DataFrame, pairs: PairSet) -> str | None:
    there = {*children.select("set", "pair_id").iter_rows()}
    now = {(each.name, pair_id) for each in pairs.sets for pair_id in each.pairs["pair_id"]}
    return None if there == now else f"on other sets than those of {pairs.title}"
