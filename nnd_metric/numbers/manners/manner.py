"""How the models of stored runs were scored, and whether their numbers can be compared.

Models are combined only if they follow the same rules: the protocol, what a version of the metric
scores (`scoring_rule`), and, for those that read chats, what they were asked: the instruction of
the data, in the same words, or something else. A rule that does not apply to a model is not among
its rules, and contradicts none: what a model reads by itself, a chat or plain text, is not mixed.
Everything else that differs (readings, chat options, dtype) is named.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nnd.metric.data import open_result
from nnd.metric.numbers.manners.readings import (
    describe_reading,
    describe_readings,
    is_chat,
    labels_by_value,
    wording_of,
)
from nnd.metric.text import AUTO, describe_options
from nnd.schemas import ScoringError, listed

_RULES = {
    (0, 1): "a separator that is a token of its own is not scored",
    (0, 2): "every token after those of the context is scored",
}
"""First version of a rule → what decoder-only models score under it.

They alone differ between versions, and only under `native`, `sum` and `bytes`.
"""

# Only they have a separator, which comes before the last part.
_SEPARATED = re.compile(r"nnd\|v:(\d+)\.(\d+)\..*\|sep:.*\|bos:(?:yes|no)", re.DOTALL)


class Manner(NamedTuple):
    """How one model was scored; what is unknown is None.

    `protocol`, `version` (`scoring_rule`) and `wording` (`wording_of`) are rules, and None if they
    do not apply: models with two values of one rule are not compared. `weights` are the name and
    the version of the model; `others` gives what else affects numbers → its value, in words;
    `reading` says how it read contexts (`describe_reading`).
    """

    weights: tuple[str, str]
    protocol: str | None
    version: str | None
    wording: str | None
    others: Mapping[str, str]
    reading: str | None = None
    data: str | None = None


def manner_of(result: Mapping[str, Any]) -> Manner:
    """Return how a model was scored, from its entry in the result.json of any version.

    The entry is empty if it is unknown.
    """
    others = {
        "instruction": result.get("instruction"),
        "chat options": _options(result["chat"]["asked"]) if is_chat(result) else None,
        "dtype": result.get("dtype"),
    }
    return Manner(
        (str(result.get("model")), str(result.get("version"))),
        result.get("protocol"),
        scoring_rule(result.get("signature")),
        wording_of(result),
        {name: str(value) for name, value in others.items() if value is not None},
        describe_reading(result) if result else None,
        (data_in(result.get("signature")) or "").rpartition("@")[0] or None,
    )


def scoring_rule(signature: str | None) -> str | None:
    """Return the rule of a run, or None if all versions score it alike."""
    made = _SEPARATED.fullmatch(signature or "")
    if made is None:
        return None
    since = max(rule for rule in _RULES if rule <= (int(made[1]), int(made[2])))
    return f"{since[0]}.{since[1]}: {_RULES[since]}"


def has_present_rule(signature: str) -> bool:
    """Whether a run was scored by the rule of this version."""
    rule = scoring_rule(signature)
    return rule is None or rule.endswith([*_RULES.values()][-1])


def data_in(signature: str | None) -> str | None:
    """Return the data that a signature names, NAME@VERSION, or None."""
    fields = (signature or "").split("|")
    named = (field.removeprefix("data:") for field in fields if field.startswith("data:"))
    return next(named, None)


def _options(asked: Mapping[str, Any]) -> str:
    is_default = asked["template"] == AUTO and asked["system"] is None and not asked["arguments"]
    return "the default" if is_default else describe_options(asked)


def read_manners(folder: Path) -> dict[str, Manner]:
    """Return model → how it was scored in a run; empty if the run has no result."""
    with open_result(folder) as found:
        return {str(each["model"]): manner_of(each) for each in found.get("results", ())}


def read_manners_of(folders: Iterable[Path]) -> dict[str, Manner]:
    """Return model → how it was scored, of several runs without a common model."""
    return {name: manner for folder in folders for name, manner in read_manners(folder).items()}


def tell_readings(manners: Sequence[Manner]) -> list[str]:
    """Return how each of some entries read contexts, if this is what tells them apart.

    A reading is, for example, "chats with the instruction" or "plain text". The list is empty
    unless all entries are one model on one dataset, and no two of them read alike.
    """
    readings = [each.reading.removeprefix("as ") for each in manners if each.reading is not None]
    is_one_model = len({(each.weights, each.data) for each in manners}) == 1
    are_told = 1 < len(manners) == len({*readings})
    return readings if is_one_model and are_told else []


def name_readings(folders: Sequence[Path]) -> dict[Path, str]:
    """Return run → how its model read contexts, if all are runs of one model (`tell_readings`)."""
    manners = [[*read_manners(folder).values()] for folder in folders]
    if any(len(of_run) != 1 for of_run in manners):
        return {}
    readings = tell_readings([manner for (manner,) in manners])
    return dict(zip(folders, readings, strict=True)) if readings else {}


def check_runs(folders: Iterable[Path]) -> None:
    """Check that the models of some runs were scored by the same rules (`check_manners`)."""
    runs = ((folder, read_manners(folder)) for folder in folders)
    check_manners([(folder, *model) for folder, manners in runs for model in manners.items()])


def check_manners(models: Sequence[tuple[Path | None, str, Manner]]) -> None:
    """Check that models were scored by the same rules."""
    n = Counter(name for _, name, _ in models)
    manners = {
        (f"{folder}:{name}" if n[name] > 1 else name): manner for folder, name, manner in models
    }
    protocols = labels_by_value({name: each.protocol for name, each in manners.items()})
    if len(protocols) > 1:
        raise ScoringError(
            "run.different-rules",
            f"the models were scored by different protocols ({_in_words(protocols)}), so "
            "their numbers cannot be compared",
            remedy="evaluate them by one (--protocol), or show them side by side with "
            "mixed_rules=True (--mixed-rules)",
        )
    versions = labels_by_value({name: each.version for name, each in manners.items()})
    if len(versions) > 1:
        described = "; ".join(
            f"{', '.join(labels)} by that of {rule}" for rule, labels in sorted(versions.items())
        )
        raise ScoringError(
            "run.different-rules",
            f"the models were scored by different rules ({described})",
            remedy="evaluate the older ones again, or combine them with mixed_rules=True "
            "(--mixed-rules)",
        )
    for data in dict.fromkeys(each.data for each in manners.values()):
        asked = {name: m for name, m in manners.items() if m.data == data and m.wording is not None}
        wordings = labels_by_value({name: each.wording for name, each in asked.items()})
        if len(wordings) > 1 and len({each.weights for each in asked.values()}) > 1:
            raise ScoringError(
                "run.different-rules",
                f"the models were asked in different words ({_in_words(wordings)}), so "
                "their numbers cannot be compared",
                remedy="evaluate them with one (--template), or combine them with "
                "mixed_rules=True (--mixed-rules)",
            )


def _in_words(labels_by_rule: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{rule}: {listed(labels)}" for rule, labels in labels_by_rule.items())


def version_rules(a: Manner, b: Manner) -> tuple[str, str] | None:
    """Return the rules of two versions that scored two models; None if they are the same."""
    if a.version is None or b.version is None or a.version == b.version:
        return None
    return a.version, b.version


def find_protocols(manners: Iterable[Manner]) -> list[str]:
    """Return the protocols of some models, sorted."""
    return sorted({each.protocol for each in manners if each.protocol is not None})


def is_tested(a: Manner, b: Manner) -> bool:
    """Whether the difference of two models is tested: they share a protocol, or are one model."""
    return len(find_protocols((a, b))) < 2 or a.weights == b.weights  # noqa: PLR2004


def name_protocol(label: str, manner: Manner) -> str:
    """Return the label of a model with its protocol."""
    return f"{label} ({manner.protocol or 'unknown protocol'})"


def name_protocols(manners: Mapping[str, Manner]) -> dict[str, str]:
    """Return model → its name: with its protocol, if the models have several."""
    several = len(find_protocols(manners.values())) > 1
    return {m: name_protocol(m, manner) if several else m for m, manner in manners.items()}


def describe_mixture(manners: Iterable[Manner]) -> str | None:
    """Return a sentence on models of several protocols; None if they have one."""
    protocols = find_protocols(manners)
    if len(protocols) < 2:  # noqa: PLR2004
        return None
    return (
        f"The models were scored by different protocols ({', '.join(protocols)}), whose numbers "
        "cannot be compared: there are no p-values and no agreement across them."
    )


def describe_manners(manners: Mapping[str, Manner]) -> tuple[str, ...]:
    """Return sentences on everything in which the manners of models differ."""
    sentences = (describe_mixture(manners.values()), describe_others(manners))
    return tuple(sentence for sentence in sentences if sentence is not None)


def describe_others(manners: Mapping[str, Manner]) -> str | None:
    """Return sentences on how the models read contexts, and on what else differs, if anything."""
    readings = {label: each.reading for label, each in manners.items() if each.reading is not None}
    sentences = [describe_readings(readings)] if len({*readings.values()}) > 1 else []
    if manners and [*manners] == tell_readings([*manners.values()]):
        (name,) = {each.weights[0] for each in manners.values()}
        sentences = [f"All are readings of one model, {name}."]
    differing = []
    for name in dict.fromkeys(name for each in manners.values() for name in each.others):
        values = labels_by_value({label: m.others.get(name) for label, m in manners.items()})
        if len(values) > 1:
            named = (f"{value} ({listed(labels, most=3)})" for value, labels in values.items())
            differing.append(f"{name} {' and '.join(named)}")
    if differing:
        sentences.append(f"Not all models were scored alike: {'; '.join(differing)}.")
    return " ".join(sentences) or None
