"""Tiny models with random weights under the names of public ones."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from support.tiny_models import build

COMMIT = "0123456789abcdef0123456789abcdef01234567"

FIB = {
    "VictorSanh/bart-base-finetuned-xsum": "bart",
    "facebook/bart-large-xsum": "bart",
    "mrm8488/bloom-560m-finetuned-news-summarization-xsum": "bloom",
    "sshleifer/distilbart-xsum-12-6": "bart",
    "sshleifer/distill-pegasus-xsum-16-8": "pegasus",
    "google/pegasus-xsum": "pegasus",
    "sysresearch101/t5-large-finetuned-xsum": "t5",
}
"""The models that FIB judged: Hub id → the family of `tiny_models` that takes its place."""

QGEVAL = {
    "QGEval2024/bart-base-hotpotqa-finetune-qg": "bart",
    "QGEval2024/bart-large-hotpotqa-finetune-qg": "bart",
    "QGEval2024/t5-base-hotpotqa-finetune-qg": "t5",
    "QGEval2024/t5-large-hotpotqa-finetune-qg": "t5",
    "QGEval2024/flan-t5-base-hotpotqa-finetune-qg": "t5",
    "QGEval2024/flan-t5-large-hotpotqa-finetune-qg": "t5",
}
"""The six small ones of QGEval's HotpotQA, whose tokenizers are in the subfolder `tokenizer`."""


def save_stand_in(folder: Path, name: str, seed: int, *, subfolder: str = "") -> None:
    """Write a model of a family, with its tokenizer in a subfolder or beside the weights."""
    with TemporaryDirectory() as scratch:
        family = build(name, Path(scratch), window=512)
        torch.manual_seed(seed)
        with torch.no_grad():
            for weights in family.model.parameters():
                weights.add_(torch.randn_like(weights), alpha=0.2)
        family.model.save_pretrained(folder)
        family.tokenizer.save_pretrained(folder / subfolder)


def write_stand_ins(cache: Path, families: Mapping[str, str], *, subfolder: str = "") -> None:
    """Write a model for each Hub id into a cache (HF_HUB_CACHE), as if it had been downloaded."""
    for seed, (model_id, name) in enumerate(families.items()):
        repository = cache / f"models--{model_id.replace('/', '--')}"
        (repository / "refs").mkdir(parents=True)
        (repository / "refs" / "main").write_text(COMMIT)
        save_stand_in(repository / "snapshots" / COMMIT, name, seed, subfolder=subfolder)


def stand_in_files(folder: Path, name: str, seed: int, *, subfolder: str = "") -> dict[str, bytes]:
    """Return the files of a model, as a repository on the Hub has them."""
    save_stand_in(folder, name, seed, subfolder=subfolder)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
