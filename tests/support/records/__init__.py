"""The JSON Schemas that follow from records: `python -m support.records` writes them."""

import json
from collections.abc import Mapping
from typing import Final

from nnd.metric.numbers import Agreement, Comparison, Slices, Validity
from nnd.metric.other_metrics import MetricTable
from nnd.metric.run import Variation
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.selftest import SelfTest
from nnd.metric.train.history import HistoryEntry
from nnd.metric.train.trained import TrainedModel
from nnd.schemas import Document, Record, SealedRecord
from nnd.schemas.records.json_schemas import json_schema

RECORDS: Final[Mapping[str, tuple[type[Record], ...]]] = {
    "agreement": (Agreement,),
    "comparison": (Comparison,),
    "history": (HistoryEntry, SealedRecord),
    "metrics": (MetricTable, Document),
    "result": (Evaluation, Document),
    "selftest": (SelfTest, SealedRecord),
    "slices": (Slices,),
    "training": (TrainedModel, SealedRecord),
    "validity": (Validity, SealedRecord),
    "variation": (Variation, Document),
}
"""Name of a schema → the records whose fields its documents have."""


def schema_text(name: str) -> str:
    """Return the schema as it is stored."""
    return json.dumps(json_schema(name, *RECORDS[name]), indent=2, ensure_ascii=False) + "\n"
