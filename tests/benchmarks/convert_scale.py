"""How converting scales: `python tests/benchmarks/convert_scale.py [contexts …]`.

Writes an invented JSON-lines file, 10 candidates a context, and converts it with a source of its
own, every size in a fresh process; prints CPU seconds and peak memory of the whole conversion
(reading, checking each row, pairing, checking each pair, writing), and the exponent of growth
between sizes.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from peak_memory import peak_memory

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import load_source

SIZES = (1_000, 10_000, 100_000)
CANDIDATES = 10
LABELS = ("good", "good", "good", "disfluent", "off_target", "wrong_context")
SYSTEMS = ("heron", "wren", "plover", "siskin", "dipper")
WORDS = [
    "river",
    "light",
    "stone",
    "garden",
    "winter",
    "paper",
    "engine",
    "quiet",
    "letter",
    "market",
    "bridge",
    "hill",
]

CONVERTER = """
from nnd.converters import Annotation

def annotations(files):
    for group in files.jsonl("made.jsonl"):
        inputs = {"paragraph": group.text("paragraph"), "answer": group.text("answer")}
        for output in group.records("outputs"):
            yield Annotation(
                where=output.where,
                context_id=group.identifier("id"),
                context="{answer} {paragraph}".format_map(inputs),
                inputs=inputs,
                candidate_id=output.text("id"),
                candidate=output.text("text"),
                system=output.text("system"),
                aspect="question",
                label=output.text("label"),
            )
"""


def make_source(folder: Path, contexts: int) -> None:
    """Write source.yaml, convert.py and made.jsonl."""
    facts = dict(load_source("sample").facts)
    facts |= {"name": "made", "instruction": "Write about this text: {context}"}
    del facts["instruction_variants"]
    facts["files"] = [{"name": "made.jsonl", "url": None, "sha256": None, "bytes": None}]
    (folder / "source.yaml").write_text(yaml.safe_dump(facts), encoding="utf-8")
    (folder / "convert.py").write_text(CONVERTER, encoding="utf-8")
    chance = random.Random(0)
    with (folder / "made.jsonl").open("w", encoding="utf-8") as file:
        for number in range(contexts):
            outputs = [
                {
                    "id": f"c{number}/{place}",
                    "text": f"{' '.join(chance.choices(WORDS, k=10))} {place}?",
                    "system": chance.choice(SYSTEMS),
                    "label": chance.choice(LABELS),
                }
                for place in range(CANDIDATES)
            ]
            paragraph, answer = (" ".join(chance.choices(WORDS, k=k)) for k in (60, 3))
            context = {"id": number, "paragraph": paragraph, "answer": answer, "outputs": outputs}
            file.write(json.dumps(context) + "\n")


def convert_one(contexts: int) -> None:
    """Convert one size; print pairs, CPU seconds, peak memory in GiB."""
    with tempfile.TemporaryDirectory() as name:
        make_source(Path(name), contexts)
        start = time.process_time()
        pairs = convert(Path(name), out=Path(name) / "out").pairs.height
        seconds = time.process_time() - start
    print(pairs, f"{seconds:.2f}", f"{peak_memory() / 2**30:.2f}")


def main(sizes: list[int]) -> None:
    """Run every size in a process of its own."""
    print(f"{'annotations':>12} {'pairs':>11} {'seconds':>8} {'GiB peak':>9} {'exponent':>9}")
    before: tuple[int, float] | None = None
    for size in sizes:
        command = [sys.executable, __file__, "--one", str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        pairs, seconds, peak = (float(figure) for figure in done.stdout.split())
        exponent = math.log(seconds / before[1]) / math.log(size / before[0]) if before else None
        shown = "" if exponent is None else f"{exponent:.2f}"
        print(f"{size * CANDIDATES:>12,} {pairs:>11,.0f} {seconds:>8.2f} {peak:>9.2f} {shown:>9}")
        before = (size, seconds)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        convert_one(int(sys.argv[2]))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
