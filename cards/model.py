"""Results of the metric in a model's repository: in the metadata of its README, and as a file.

The Hub knows two forms: `model-index` in the metadata of README.md, shown on the model's page
(`huggingface_hub.EvalResult`), and `.eval_results/*.yaml` for datasets on the Hub
(`huggingface_hub.EvalResultEntry`). In the README only `model-index` changes; every other byte
stays, including comments.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from huggingface_hub import EvalResult, EvalResultEntry, constants, eval_result_entries_to_yaml
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from huggingface_hub.repocard_data import eval_results_to_model_index

from nnd.cards.card_parser import read_metadata
from nnd.cards.markdown import escape, one_visible_line
from nnd.schemas import PublishError, load_yaml

METRIC = "nnd"

_KEY = "model-index"
_BLOCK = re.compile(rf"^(['\"]?){_KEY}\1 *:.*\n(?:(?:[ \t\r-].*)?\n)*", re.MULTILINE)
"""The key with its value: indented lines, items of a list, empty lines."""


@dataclass(frozen=True, slots=True)
class ScoredOn:
    """The dataset of a result: ORG/name on the Hub, or its name in results.

    The commit is None if it is not on the Hub; the split is None if it is whole.
    """

    name: str
    commit: str | None
    split: str | None = None


def add_results(
    readme: str | None, repo_id: str, result: Mapping[str, Any], dataset: ScoredOn
) -> str:
    """Return a README with a result in its metadata, replacing one of the same kind.

    Results of the same kind have the same dataset, protocol and template.

    Raises:
        PublishError: If the metadata is not what the Hub accepts, or cannot be changed without
            changing other metadata.
    """
    if readme is None:
        readme = f"# {escape(repo_id.rpartition('/')[2])}\n"
    text = readme.removeprefix("\ufeff")
    newline = "\r\n" if "\r\n" in text else "\n"
    front = REGEX_YAML_BLOCK.search(text)
    metadata = "" if front is None else f"{front[2]}{newline}"
    before = read_metadata(metadata, f"{repo_id}: README.md")
    block = _yaml({_KEY: _merged(before.get(_KEY), repo_id, result, dataset)})
    block = block.replace("\n", newline)
    changed, found = _BLOCK.subn(lambda _: block, metadata, count=1)
    changed = changed if found else metadata + block  # an existing block is replaced
    if not _is_same_else(before, changed):
        raise PublishError(
            "hub.model-card",
            "cannot be changed without changing other metadata",
            f"{repo_id}: README.md: {_KEY}",
            "write it in a block of its own, then run the command again",
        )
    if front is None:
        return newline.join(["---", f"{changed}---", "", text])
    return text[: front.start(2)] + changed.removesuffix(newline) + text[front.end(2) :]


def results_file(result: Mapping[str, Any], dataset: ScoredOn) -> tuple[str, str]:
    """Return path and text of the file in `.eval_results` for a result on a Hub dataset."""
    entries = [
        EvalResultEntry(
            dataset_id=dataset.name,
            task_id=f"pass_rate.{one_visible_line(category)}" if category else "pass_rate",
            value=rate["pass_rate"],
            dataset_revision=dataset.commit,
            notes=f"n = {rate['n']}{_bounds(rate)}; {result['signature']}",
            **_source(dataset),
        )
        for category, rate in _rates(result)
    ]
    name = re.sub(r"[^\w.-]+", "-", f"{METRIC}-{dataset.name.replace('/', '--')}-{_how(result)}")
    return f".eval_results/{name}.yaml", _yaml(eval_result_entries_to_yaml(entries))


def eval_results(result: Mapping[str, Any], dataset: ScoredOn) -> list[EvalResult]:
    """Return the pass rate of a result, overall first, then by error category."""
    return [
        EvalResult(
            task_type="text-generation",
            dataset_type=dataset.name,
            dataset_name=dataset.name.split("/")[-1],
            dataset_split=dataset.split,
            dataset_revision=dataset.commit,
            metric_type=METRIC,
            metric_name="NND pass rate" + (f": {one_visible_line(category)}" if category else ""),
            metric_value=rate["pass_rate"],
            metric_config=_how(result),
            metric_args={
                "n": rate["n"],
                "interval": rate["interval"],
                "signature": result["signature"],
            },
            **(_source(dataset) if dataset.commit else {}),
        )
        for category, rate in _rates(result)
    ]


def _rates(result: Mapping[str, Any]) -> Iterable[tuple[str | None, Mapping[str, Any]]]:
    return [(None, result), *result["by_error_category"].items()]


def _how(result: Mapping[str, Any]) -> str:
    template, chat = result["template"], (result.get("chat") or {}).get("template", "none")
    in_words = f", template {template}" if template != "default" else ""
    in_words += f", chat template {chat}" if chat != "none" else ""
    return f"{result['protocol']}{in_words}"


def _bounds(rate: Mapping[str, Any]) -> str:
    interval = rate["interval"]
    return f", 95 % interval {interval[0]:.4f} to {interval[1]:.4f}" if interval else ""


def _source(dataset: ScoredOn) -> dict[str, Any]:
    url = f"{constants.ENDPOINT}/datasets/{dataset.name}/tree/{dataset.commit}"
    return {"source_url": url, "source_name": "Near-Negative Distinction"}


def _merged(
    index: Any,  # noqa: ANN401 - as it is in the README
    repo_id: str,
    result: Mapping[str, Any],
    dataset: ScoredOn,
) -> list[Any]:
    """Return the model index with the result added; other results stay."""
    name = repo_id.rpartition("/")[2]
    models = [] if index is None else index
    if not isinstance(models, list) or not all(_is_model(each) for each in models):
        raise PublishError(
            "hub.model-card",
            "is not a list of models with a list of results each",
            f"{repo_id}: README.md: {_KEY}",
            "fix it by hand, then run the command again",
        )
    (ours,) = eval_results_to_model_index(name, eval_results(result, dataset))[0]["results"]
    models = models or [{"name": name, "results": []}]
    target = next((each for each in models if each.get("name") == name), models[0])
    results = [ours if _same_kind(each, ours) else each for each in target["results"]]
    results += [] if ours in results else [ours]
    return [{**each, "results": results} if each is target else each for each in models]


def _is_model(entry: object) -> bool:
    results = entry.get("results") if isinstance(entry, dict) else None
    return isinstance(results, list) and all(isinstance(each, dict) for each in results)


def _same_kind(entry: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    """Say whether an entry is ours, with the same dataset, protocol and template."""
    dataset, metrics = entry.get("dataset"), entry.get("metrics")
    if not isinstance(dataset, dict) or not isinstance(metrics, list) or not metrics:
        return False
    how = (METRIC, ours["metrics"][0]["config"])
    return dataset.get("type") == ours["dataset"]["type"] and all(
        isinstance(each, dict) and (each.get("type"), each.get("config")) == how for each in metrics
    )


def _is_same_else(before: Mapping[str, Any], changed: str) -> bool:
    """Say whether only the key changed in the metadata, and occurs there once."""
    try:
        after, nodes = load_yaml(changed), yaml.compose(changed, yaml.SafeLoader)
    except yaml.YAMLError:
        return False
    keys = [key.value for key, _ in nodes.value] if nodes is not None else []
    return keys.count(_KEY) == 1 and {**before, _KEY: 0} == {**after, _KEY: 0}


def _yaml(value: object) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10**6)
    return text
