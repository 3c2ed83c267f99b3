"""The numbers of minicons' masked scorer, for `tests/metric/text/encoding/test_masked_rows.py`.

minicons 0.3.39 needs transformers 4, so it runs in an environment of its own:

    PYTHONPATH=tests python -m support.models.masked_models FOLDER
    python -m venv OTHER
    OTHER/bin/pip install torch==2.13.0 transformers==4.57.6 minicons==0.3.39
    OTHER/bin/python tests/benchmarks/minicons_masked.py FOLDER OUT.json
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

from minicons import scorer

METRICS = {"pll": "within_word_l2r", "pll-original": "original"}


def main(folder: Path, to: Path) -> None:
    """Score the texts beside the models in `folder`; write log P of each token."""
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    prefixes, candidates = texts["contexts"], texts["candidates"]
    numbers: dict[str, dict[str, list[list[float]]]] = {}
    for place in sorted(each for each in folder.iterdir() if each.is_dir()):
        model = scorer.MaskedLMScorer(str(place), "cpu")
        started = time.process_time()
        numbers[place.name] = {
            protocol: model.compute_stats(model.prime_text(prefixes, candidates, PLL_metric=metric))
            for protocol, metric in METRICS.items()
        }
        print(f"{place.name}: {time.process_time() - started:.1f} CPU s")
    names = ("minicons", "torch", "transformers", "tokenizers")
    stored = {"versions": {name: version(name) for name in names}, "log_probabilities": numbers}
    to.write_text(json.dumps(stored) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
