"""How the models of stored runs were scored, and whether their numbers can be compared.

Models are combined only if they follow the same rules: the protocol, what a version of the metric
scores (`scoring_rules`), and, for those that read chats, what they were asked: the instruction of
the data, in the same words, or something else. A rule that does not apply to a model is not among
its rules, and contradicts none: what a model reads by itself, a chat or plain text, is not mixed.
Everything else that differs (readings, chat options, dtype) is named.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from nnd.metric.data import open_result
from nnd.metric.numbers.manners.readings import (
    describe_reading,
    describe_readings,
    is_chat,
    wording_of,
)
from nnd.metric.numbers.manners.scoring_rules import scoring_rule
from nnd.metric.text import AUTO, describe_options
from nnd.schemas import ScoringError, listed

_PROTOCOL, _VERSION, _WORDING = "protocol", "version", "wording"


class Manner(NamedTuple):
    """How one model was scored.

    Attributes:
        weights: Name and version of the model.
        rules: Rule → its value; models with two values of one rule are not compared.
        others: What else affects numbers → its value, in words.
        reading: How it read contexts (`describe_reading`), or None if that is unknown.
        data: Name of the data, or None if that is unknown.
    """

    weights: tuple[str, str]
    rules: Mapping[str, str]
    others: Mapping[str, str]
    reading: str | None = None
    data: str | None = None


def manner_of(result: Mapping[str, Any]) -> Manner:
    """Return how a model was scored.

    Args:
        result: Its entry in result.json, of this version or an older one; empty if it is unknown.
    """
    rules = {
        _PROTOCOL: result.get("protocol"),
        _VERSION: scoring_rule(result.get("signature")),
        _WORDING: wording_of(result),
    }
    others = {
        "instruction": result.get("instruction"),
        "chat options": _options(result["chat"]["asked"]) if is_chat(result) else None,
        "dtype": result.get("dtype"),
    }
    return Manner(
        (str(result.get("model")), str(result.get("version"))),
        {name: str(value) for name, value in rules.items() if value is not None},
        {name: str(value) for name, value in others.items() if value is not None and result},
        describe_reading(result) if result else None,
        (data_in(result.get("signature")) or "").rpartition("@")[0] or None,
    )


def data_in(signature: str | None) -> str | None:
    """Return the data that a signature names, NAME@VERSION, or None."""
    fields = (signature or "").split("|")
    named = (field.removeprefix("data:") for field in fields if field.startswith("data:"))
    return next(named, None)


def _options(asked: Mapping[str, Any]) -> str:
    is_default = asked["template"] == AUTO and asked["system"] is None and not asked["arguments"]
    return "the default" if is_default else describe_options(asked)


def read_manners(folder: Path) -> dict[str, Manner]:
    """Return model → how it was scored in a run; empty if the run has no result.

    Raises:
        ScoringError: If the result cannot be read.
    """
    with open_result(folder) as found:
        return {str(each["model"]): manner_of(each) for each in found.get("results", ())}


def read_manners_of(folders: Iterable[Path]) -> dict[str, Manner]:
    """Return model → how it was scored, of several runs without a common model."""
    return {name: manner for folder in folders for name, manner in read_manners(folder).items()}


def tell_readings(manners: Sequence[Manner]) -> list[str]:
    """Return how each of some entries read contexts, if this is what tells them apart.

    Args:
        manners: How each was scored.

    Returns:
        Such as "chats with the instruction" and "plain text"; nothing, unless all are one model on
        one dataset, and no two of them read alike.
    """
    readings = [each.reading.removeprefix("as ") for each in manners if each.reading is not None]
    is_one_model = len({(each.weights, each.data) for each in manners}) == 1
    are_told = 1 < len(manners) == len({*readings})
    return readings if is_one_model and are_told else []


def name_readings(folders: Sequence[Path]) -> dict[Path, str]:
    """Return run → how its model read contexts, if all are runs of one model (`tell_readings`).

    Raises:
        ScoringError: If a result cannot be read.
    """
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
    """Check that models were scored by the same rules.

    Args:
        models: Of each the folder of its run, its name, and how it was scored.

    Raises:
        ScoringError: If they were not.
    """
    n = Counter(name for _, name, _ in models)
    manners = {
        (f"{folder}:{name}" if n[name] > 1 else name): manner for folder, name, manner in models
    }
    protocols = _by_value(manners, "rules", _PROTOCOL)
    if len(protocols) > 1:
        described = "; ".join(f"{name}: {listed(labels)}" for name, labels in protocols.items())
        raise ScoringError(
            f"the models were scored by different protocols ({described}), so their numbers cannot "
            "be compared; evaluate them by one (--protocol), or show them side by side with "
            "mixed_rules=True (--mixed-rules)"
        )
    versions = _by_value(manners, "rules", _VERSION)
    if len(versions) > 1:
        described = "; ".join(
            f"{', '.join(labels)} by that of {rule}" for rule, labels in sorted(versions.items())
        )
        raise ScoringError(
            f"the models were scored by different rules ({described}); evaluate the older ones "
            "again, or combine them with mixed_rules=True (--mixed-rules)"
        )
    for data in dict.fromkeys(each.data for each in manners.values()):
        _check_wordings({name: each for name, each in manners.items() if each.data == data})


def _check_wordings(manners: Mapping[str, Manner]) -> None:
    """Check that chat models on one dataset were asked in the same words."""
    wordings = _by_value(manners, "rules", _WORDING)
    asked = {each.weights for each in manners.values() if _WORDING in each.rules}
    if len(wordings) > 1 and len(asked) > 1:
        described = "; ".join(f"{name}: {listed(labels)}" for name, labels in wordings.items())
        raise ScoringError(
            f"the models were asked in different words ({described}), so their numbers cannot be "
            "compared; evaluate them with one (--template), or combine them with mixed_rules=True "
            "(--mixed-rules)"
        )


def version_rules(a: Manner, b: Manner) -> tuple[str, str] | None:
    """Return the rules of two versions that scored two models; None if they are the same."""
    both = a.rules.get(_VERSION), b.rules.get(_VERSION)
    return None if both[0] is None or both[1] is None or both[0] == both[1] else (both[0], both[1])


def find_protocols(manners: Iterable[Manner]) -> list[str]:
    """Return the protocols of some models, sorted."""
    return sorted({each.rules[_PROTOCOL] for each in manners if _PROTOCOL in each.rules})


def is_tested(a: Manner, b: Manner) -> bool:
    """Whether the difference of two models is tested: by one protocol, or of one and the same."""
    return len(find_protocols((a, b))) < 2 or a.weights == b.weights  # noqa: PLR2004


def name_protocol(label: str, manner: Manner) -> str:
    """Return the label of a model with its protocol."""
    return f"{label} ({manner.rules.get(_PROTOCOL, 'unknown protocol')})"


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
    """Return sentences on how the models read contexts, and on what else differs, if anything.

    Args:
        manners: Model → how it was scored; readings of one model may be named by `tell_readings`.
    """
    readings = {label: each.reading for label, each in manners.items() if each.reading is not None}
    sentences = [describe_readings(readings)] if len({*readings.values()}) > 1 else []
    if manners and [*manners] == tell_readings([*manners.values()]):
        (name,) = {each.weights[0] for each in manners.values()}
        sentences = [f"All are readings of one model, {name}."]
    differing = []
    for name in dict.fromkeys(name for each in manners.values() for name in each.others):
        values = _by_value(manners, "others", name)
        if len(values) > 1:
            named = (f"{value} ({listed(labels, most=3)})" for value, labels in values.items())
            differing.append(f"{name} {' and '.join(named)}")
    if differing:
        sentences.append(f"Not all models were scored alike: {'; '.join(differing)}.")
    return " ".join(sentences) or None


def _by_value(
    manners: Mapping[str, Manner], kind: Literal["rules", "others"], name: str
) -> dict[str, list[str]]:
    """Return value → labels of the models that have it."""
    labels: dict[str, list[str]] = {}
    for label, manner in manners.items():
        values = manner.rules if kind == "rules" else manner.others
        if name in values:
            labels.setdefault(values[name], []).append(label)
    return labels
