"""The YAML at the head of a card, in terms that the Hub accepts."""

import re
from typing import Any

import polars as pl
from huggingface_hub import DatasetCardData

from nnd.cards.asked import description
from nnd.cards.content import CardContent
from nnd.cards.markdown import one_visible_line
from nnd.cards.vocabulary import hub_languages, hub_licence, size_category
from nnd.schemas import published_path

TAGS = ("near-negative-distinction", "nnd", "human-evaluation", "evaluation", "preference-pairs")

_TAG = re.compile(r"[a-z0-9-]+")


def metadata(content: CardContent) -> DatasetCardData:
    """Return the metadata of a card.

    It has no `dataset_info`, which would repeat what Parquet states, and break loading if wrong.
    """
    source, tags = content.source, content.languages
    licence = hub_licence(source["licence"])
    more: dict[str, Any] = {"language_details": tags} if any("-" in tag for tag in tags) else {}
    if licence == "other":
        more |= {"license_name": source["licence"], "license_link": source["homepage"]}
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


def configs(content: CardContent) -> list[dict[str, Any]]:
    """Return the parts that `load_dataset` offers; the first, which is pairs, is the default.

    Frames without rows are omitted. The description of the pairs is the instruction.
    """
    frames = {
        "pairs": content.pairs,
        "human_scores": content.human_scores.with_columns(split=pl.lit("systems")),
        "annotations": content.annotations,
        "references": content.references,
        "preferences": content.preferences,
    }
    offered: list[dict[str, Any]] = []
    for name, rows in {**frames, **content.sets}.items():
        place = f"sets/{name}" if name in content.sets else name
        files = [
            {"split": split, "path": published_path(place, split)}
            for split in rows["split"].unique().sort()
        ]
        config = {
            "config_name": name,
            "default": not offered,
            "description": description(content) if name == "pairs" else None,
            "data_files": files,
        }
        offered += [{key: value for key, value in config.items() if value}] if files else []
    return offered
