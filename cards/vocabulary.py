"""The terms that the Hub accepts in a card's metadata, by its documentation of 2026.

Licences: docs/hub/repositories-licenses; tasks: huggingface.js, packages/tasks/src/pipelines.ts;
the rest: datasetcard.md of huggingface/hub-docs. The Hub checks them when a card is
pushed; these lists check them offline.
"""

import re

LICENCES = frozenset(
    """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear
    c-uda cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0
    cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0
    cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl
    ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl
    lgpl-2.1 lgpl-3.0 isc h-research intel-research lppl-1.3c ms-pl apple-ascl apple-amlr mpl-2.0
    odc-by odbl openmdw-1.0 openrail++ osl-3.0 postgresql ofl-1.1 ncsa unlicense zlib pddl lgpl-lr
    deepfloyd-if-license fair-noncommercial-research-license llama2 llama3 llama3.1 llama3.2
    llama3.3 llama4 gemma unknown other
    """.split()  # noqa: SIM905 - eighty lines of quotes say no more
)

TASK_CATEGORIES = frozenset(
    """
    text-classification token-classification table-question-answering question-answering
    zero-shot-classification translation summarization feature-extraction text-generation fill-mask
    sentence-similarity text-to-speech text-to-audio automatic-speech-recognition audio-to-audio
    audio-classification audio-text-to-text voice-activity-detection depth-estimation
    image-classification object-detection image-segmentation text-to-image image-to-text
    image-to-image image-to-video unconditional-image-generation video-classification
    reinforcement-learning robotics tabular-classification tabular-regression tabular-to-text
    table-to-text multiple-choice text-ranking text-retrieval time-series-forecasting text-to-video
    image-text-to-text visual-question-answering document-question-answering
    zero-shot-image-classification graph-ml mask-generation zero-shot-object-detection text-to-3d
    image-to-3d image-feature-extraction video-text-to-text keypoint-detection
    visual-document-retrieval any-to-any other
    """.split()  # noqa: SIM905 - eighty lines of quotes say no more
)

ANNOTATORS = frozenset(
    {"crowdsourced", "expert-generated", "found", "machine-generated", "no-annotation", "other"}
)

SOURCE_DATASET = re.compile(r"original|extended(\|[\w.\-/]+)?|[\w.-]+(/[\w.-]+)?")

_SIZES = "n<1K 1K<n<10K 10K<n<100K 100K<n<1M 1M<n<10M 10M<n<100M 100M<n<1B 1B<n<10B".split()  # noqa: SIM905
"""The categories of fewer than 10³, 10⁴, … rows."""


def size_category(rows: int) -> str:
    """Return the Hub's name for a number of rows."""
    return next((name for power, name in enumerate(_SIZES, 3) if rows < 10**power), "10B<n<100B")


def hub_licence(spdx: str) -> str:
    """Return the Hub's identifier of an SPDX licence, or `other`."""
    name = re.sub(r"-(only|or-later)$", "", spdx.strip().lower())
    name = re.sub(r"^(odc-by|odbl|pddl)-1\.0$", r"\1", name)
    return name if name in LICENCES else "other"


def hub_languages(tags: list[str]) -> list[str]:
    """Return the distinct ISO 639 codes of BCP-47 tags; the Hub accepts no longer tags."""
    return list(dict.fromkeys(tag.partition("-")[0].lower() for tag in tags))
