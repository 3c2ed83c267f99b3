"""The YAML at the head of a card, in terms that the Hub accepts."""

import re
from collections.abc import Iterable
from typing import Any

from huggingface_hub import DatasetCardData

from nnd.cards.asked import description
from nnd.cards.content import Content
from nnd.cards.markdown import one_visible_line
from nnd.cards.vocabulary import hub_languages, hub_licence, size_category
from nnd.schemas import FrameName, published_path

TAGS = ("near-negative-distinction", "nnd", "human-evaluation", "evaluation", "preference-pairs")

_TAG = re.compile(r"[a-z0-9-]+")


def metadata(content: Content) -> DatasetCardData:
    """Return the metadata of a card.

    It has no `dataset_info`, which would repeat what Parquet states, and break loading if wrong.
    """
    source = content.source
    tags = content.languages
    licence = hub_licence(source["licence"])
    more: dict[str, Any] = {}
    if licence == "other":
        more |= {"license_name": source["licence"], "license_link": source["homepage"]}
    if any("-" in tag for tag in tags):
        more |= {"language_details": tags}
    return DatasetCardData(
        pretty_name=f"{one_visible_line(source['pretty_name'])} (NND tests)",
        language=hub_languages(tags),
        license=licence,
        task_categories=source.get("task_categories"),
        size_categories=[size_category(content.pairs.height)],
        source_datasets=source.get("source_datasets"),
        annotations_creators=source.get("annotators"),
        tags=[*TAGS, *(tag for tag in (source["task"],) if _TAG.fullmatch(tag))],
        configs=configs(content),
        **more,
    )


def configs(content: Content) -> list[dict[str, Any]]:
    """Return the parts that `load_dataset` offers; the first, which is pairs, is the default.

    Frames without rows are left out. The description of the pairs is the instruction.
    """
    pairs, annotations, references = (
        list(frame["split"].unique().sort())
        for frame in (content.pairs, content.annotations, content.references)
    )
    systems = [] if content.human_scores.is_empty() else ["systems"]
    words = description(content)
    asked = {} if words is None else {"description": words}
    found: list[dict[str, Any]] = [
        {"config_name": "pairs", **asked, "data_files": _files("pairs", pairs)},
        {"config_name": "human_scores", "data_files": _files("human_scores", systems)},
        {"config_name": "annotations", "data_files": _files("annotations", annotations)},
        {"config_name": "references", "data_files": _files("references", references)},
        *(
            {"config_name": name, "data_files": _set_files(name, rows["split"].unique().sort())}
            for name, rows in content.sets.items()
        ),
    ]
    first, *others = (config for config in found if config["data_files"])
    return [{"config_name": first["config_name"], "default": True, **first}, *others]


def _files(name: FrameName, splits: list[str]) -> list[dict[str, str]]:
    return [{"split": split, "path": published_path(name, split)} for split in splits]


def _set_files(name: str, splits: Iterable[str]) -> list[dict[str, str]]:
    return [{"split": split, "path": published_path(f"sets/{name}", split)} for split in splits]
