"""The texts of the benchmark: requests from the real annotation files, in the files' order.

`quiz200`: the first 200 Quiz Design pairs. `summeval1`: all pairs, of all aspects, of the first
SummEval document. `quiz200_other`, `summeval1_other`: the next 200 pairs, and the second document,
for a first run. `quiz`, `quiz_2`, `quiz_4`, `quiz_8`: all of Quiz Design, and every second, fourth
and eighth of its contexts (a stride keeps the mix of lengths). `summeval`: all of SummEval.
The contexts of SummEval are cut to 512 tokens, and every tool gets the same cut text.

A workload is a list of (context, candidate): high and low candidate of each pair, one after the
other. The files' order is that of the annotation files' lines; a converted folder is sorted by
context id. Within a context the pairs stand as in pairs.parquet.
"""

import json
import os
import sys
from pathlib import Path

import polars as pl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from nnd.converters.folder.conversion import convert

Request = tuple[str, str]

QUIZ_FILE = ("quiz_design", "quiz_design_groups.jsonl", "group_id")
SUMMEVAL_FILE = ("summeval", "model_annotations.aligned.paired.jsonl", "id")

MOST_CONTEXT_TOKENS = 512
VOCABULARY = 50_257
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"]  # BART's ids are 0 to 4

STRIDES = {"quiz_8": 8, "quiz_4": 4, "quiz_2": 2, "quiz": 1}
"""Workload → which share of Quiz Design's contexts it holds, the smallest first."""


def data_folder() -> Path:
    """Return the folder of the real annotation files, or end the program with a sentence."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("NND_DATA") or beside)
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; set NND_DATA to that of the real annotation files")
    return folder


def prepare(data: Path, folder: Path, *, quick: bool = False) -> None:
    """Write NAME.json for every workload, and tokenizer.json.

    Args:
        data: Folder of the real annotation files.
        folder: Where to write.
        quick: Whether a handful of pairs and 16 contexts are enough.
    """
    quiz, summeval = (_pairs(data, *where) for where in (QUIZ_FILE, SUMMEVAL_FILE))
    tokenizer = train_tokenizer(quiz, summeval)
    tokenizer.save(str(folder / "tokenizer.json"))
    cut = {text: cut_text(tokenizer, text) for text in summeval["context"].unique()}
    summeval = summeval.with_columns(pl.col("context").replace_strict(cut))
    contexts = quiz["context_id"].unique(maintain_order=True)[: 8 if quick else None]
    few = 4 if quick else 200
    documents = summeval["context_id"].unique(maintain_order=True)
    first, second = (
        summeval.filter(pl.col("context_id") == document)[: 4 if quick else None]
        for document in documents[:2]
    )
    chosen = {
        "quiz200": quiz[:few],
        "quiz200_other": quiz[few : 2 * few],
        "summeval1": first,
        "summeval1_other": second,
        "summeval": summeval,
    }
    for name, stride in STRIDES.items():
        chosen[name] = quiz.filter(pl.col("context_id").is_in(contexts[::stride].implode()))
    for name, pairs in chosen.items():
        (folder / f"{name}.json").write_text(json.dumps(requests(pairs)), encoding="utf-8")


def requests(pairs: pl.DataFrame) -> list[Request]:
    """Return what a user of any tool asks for these pairs: both candidates of each."""
    columns = (pairs[name] for name in ("context", "candidate_high", "candidate_low"))
    return [
        (context, candidate)
        for context, *candidates in zip(*columns, strict=True)
        for candidate in candidates
    ]


def train_tokenizer(*sources: pl.DataFrame) -> Tokenizer:
    """Train a byte-level BPE on all texts of some pairs; the order of the rows does not matter."""
    texts = {text for pairs in sources for request in requests(pairs) for text in request}
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sorted(texts), trainer)
    return tokenizer


def cut_text(tokenizer: Tokenizer, text: str, most: int = MOST_CONTEXT_TOKENS) -> str:
    """Return the longest beginning of a text that is at most `most` tokens when tokenised again.

    A cut through a character of several bytes, or through a word that two tokens share, may make
    other tokens of the same beginning; then one token more is left out.
    """
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    if len(ids) <= most:
        return text
    for length in range(most, 0, -1):
        beginning: str = tokenizer.decode(ids[:length], skip_special_tokens=False)
        again = tokenizer.encode(beginning, add_special_tokens=False).ids
        if text.startswith(beginning) and len(again) <= most:
            return beginning
    return ""


def _pairs(data: Path, source: str, file: str, key: str) -> pl.DataFrame:
    """Convert a source and put its pairs into the order in which its file names the contexts."""
    pairs = convert(source, origin=data / source).pairs
    with (data / source / file).open(encoding="utf-8") as lines:
        named = dict.fromkeys(str(json.loads(line)[key]) for line in lines)
    place = {context_id: number for number, context_id in enumerate(named)}
    order = pl.col("context_id").replace_strict(place, return_dtype=pl.Int64)
    return pairs.sort(order, maintain_order=True)
