"""What README and the guide show, run and written into them (`make readme`).

All of it is of one run of the model of the demo, which is kept in `cards/guide/run`.
"""

import base64
import json
import re
import shutil
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from PIL import Image, PngImagePlugin
from support.places import ROOT
from support.report.chromium import Chromium
from support.screens.doc_blocks import (
    DOCUMENTS,
    FIRST_RUN,
    Block,
    Reading,
    blocks,
    fresh_clone,
    reader,
)

from nnd.cards.markdown import shorten, table_cell
from nnd.converters.folder import convert
from nnd.converters.source.source import list_sources

RUN = ROOT / "cards/guide/run"
PICTURE = ROOT / ".github/report.png"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
DATA = "demo/quiz_design"

READINGS = {"native": "a chat that asks for a question", "native+chat-none": "plain text"}
LANGUAGES = {
    "en": "English",
    "cs": "Czech",
    "de": "German",
    "hi": "Hindi",
    "ja": "Japanese",
    "zh": "Chinese",
}
MADE = r"\*"
OF_HUB = re.compile(r"\bgpt2\b|my-org|Qwen/")
_REGION = r"(?<=<!-- {0} -->\n).*?(?=<!-- /{0} -->)"


def working_folder(place: Path, model: Path) -> Path:
    """Return a folder that looks like a clone in which the model was fetched."""
    fresh_clone(place)
    (place / "demo").mkdir()
    (place / "demo" / FILE).symlink_to(model.resolve())
    shutil.copy(ROOT / "cards/guide/demo.yaml", place / "demo/runs.yaml")
    return place


def shown_by_running(place: Path, variables: Mapping[str, str]) -> dict[Block, str]:
    """Return the blocks of all documents that show something, with what they should show.

    Args:
        place: A working folder; each page but the first run begins with a copy of it.
        variables: The environment.
    """
    kept = place.with_name("shown")
    kept.mkdir()
    found: dict[Block, str] = {}
    for document in (FIRST_RUN, *(name for name in DOCUMENTS if name != FIRST_RUN)):
        showing = [block for block in blocks(document) if block.language == ""]
        if not showing:
            continue
        here = place
        if document != FIRST_RUN:
            here = place.with_name("page")
            shutil.rmtree(here, ignore_errors=True)
            shutil.copytree(place, here, symlinks=True)
        reading = Reading([document], here, variables, kept, skip=OF_HUB)
        reading.read(None if here == place else showing[-1])
        found |= reading.shown
        found |= reading.shown
    return found


def pair_table(run: Path, data: Path) -> str:
    """Return a pair that two readings of the model decide differently, with what they say of it.

    Of all such pairs that are off target it is the one with the shortest questions.
    """
    texts = pl.read_parquet(data / "pairs.parquet").unique("pair_id")
    rows = {
        name: pl.read_parquet(run / name / "quiz_design/log_likelihoods.parquet")
        for name in READINGS
    }
    chat, plain = rows.values()
    both = chat.join(plain, on="pair_id", suffix="_plain").unique("pair_id")
    length = pl.col("candidate_high").str.len_chars() + pl.col("candidate_low").str.len_chars()
    pair = (
        both.filter(pl.col("passed") != pl.col("passed_plain"), error_category="off_target")
        .join(texts, on="pair_id", suffix="_text")
        .sort(length, "pair_id")
        .row(0, named=True)
    )
    inputs = {each["key"]: each["value"] for each in pair["inputs"]}
    paragraph, answer = inputs["paragraph"], inputs["answer"]
    sentences = re.split(r"(?<=[.?!])\s+", paragraph)
    around = next((sentence for sentence in sentences if answer in sentence), paragraph)
    category = pair["error_category"].replace("_", " ")
    lines = [
        f"| from the paragraph | {table_cell(shorten(around, 400))} |",
        "|---|---|",
        f"| the answer to ask for | {table_cell(answer)} |",
        f"| better: the teachers took it | {table_cell(pair['candidate_high'])} |",
        f"| worse: {category} | {table_cell(pair['candidate_low'])} |",
        "",
        "A small language model reads the paragraph and the answer in two ways:",
        "",
        "| SmolLM2, 135 million weights, reads it as | better | worse | |",
        "|---|---:|---:|---|",
    ]
    for how, end in zip(READINGS.values(), ("", "_plain"), strict=True):
        high, low = pair[f"ll_high{end}"], pair[f"ll_low{end}"]
        verdict = "passes" if pair[f"passed{end}"] else "fails"
        lines.append(f"| {how} | {high:.2f} | {low:.2f} | {verdict} |")
    return "\n".join([*lines, ""])


def box_table() -> str:
    """Return what sources there are: by task and language, with the pairs of their largest set."""
    rows: dict[str, dict[str, list[str]]] = {}
    total = 0
    for source in list_sources():
        if source.name == "sample":
            continue
        sets = [source, *(source.choose("set", name) for name in source.facts.get("sets", {}))]
        counts = [each.facts["expected"]["pairs"] for each in sets if each.facts["expected"]]
        pairs = f" {max(counts):,}" if counts else ""
        total += max(counts, default=0)
        row = rows.setdefault(source.facts["task"].replace("-", " "), {"data": [], "in": []})
        row["data"].append(f"`{source.name}`{'' if source.facts['systems'] else MADE}{pairs}")
        row["in"] += [LANGUAGES[code] for each in sets for code in each.facts["languages"]]
    lines = [
        f"| {task} | {', '.join(dict.fromkeys(row['in']))} | {' · '.join(row['data'])} |"
        for task, row in rows.items()
    ]
    made = sum(not source.facts["systems"] for source in list_sources())
    judged = len(list_sources()) - 1 - made
    summary = (
        f"{judged} human evaluations of systems, and {made} sets ({MADE}) in which the errors were "
        f"made on purpose: {total:,} pairs of a better and a worse text."
    )
    head = ["", "| task | texts in | data and pairs |", "|---|---|---|"]
    return "\n".join([summary, *head, *lines, ""])


def regions(run: Path, data: Path) -> dict[str, str]:
    """Return what stands between the marks of README and of the front page of the guide."""
    return {"pair": pair_table(run, data), "box": box_table()}


def write(shown: Mapping[Block, str]) -> None:
    """Write what blocks show into their documents."""
    for document in {block.document for block in shown}:
        path = ROOT / document
        text = path.read_text(encoding="utf-8")
        own = [block for block in shown if block.document == document]
        for block in sorted(own, key=lambda block: -block.start):
            assert text[block.start : block.end] == block.text, f"{block} changed meanwhile"
            text = text[: block.start] + shown[block] + text[block.end :]
        path.write_text(text, encoding="utf-8")


def write_regions(run: Path, data: Path) -> None:
    """Write the tables of README and of the front page of the guide."""
    for path in (ROOT / "README.md", ROOT / "cards/guide/index.md"):
        text = path.read_text(encoding="utf-8")
        for name, table in regions(run, data).items():
            text = re.sub(_REGION.format(name), lambda _, new=table: new, text, flags=re.DOTALL)
        path.write_text(text, encoding="utf-8")


def run_digest(run: Path) -> str:
    """Return the digest of the run that the picture is of."""
    path = run / "native/quiz_design/result.json"
    return str(json.loads(path.read_text(encoding="utf-8"))["digest"])


def draw(page: Path, run: Path) -> None:
    """Write the picture of the report, which names the run."""
    with TemporaryDirectory() as home, Chromium(Path(home)) as browser, browser.tab() as tab:
        tab.resize(1160, 1300)
        tab.open(page)
        tab.until("document.readyState === 'complete'")
        png = base64.b64decode(tab.call("Page.captureScreenshot")["data"])
    named = PngImagePlugin.PngInfo()
    named.add_text("nnd-run", run_digest(run))
    Image.open(BytesIO(png)).quantize(128).save(PICTURE, pnginfo=named, optimize=True)


def run_of(picture: Path) -> str:
    """Return the digest of the run that a picture is of."""
    with Image.open(picture) as image:
        return str(image.info["nnd-run"])


def main() -> None:
    """Run what README and the guide show, keep the run of the demo, and write all of it."""
    model = ROOT / "demo" / FILE
    with TemporaryDirectory(prefix="nnd-readme-") as folder:
        place = working_folder(Path(folder, "first"), model)
        found = shown_by_running(place, reader(HF_HUB_OFFLINE="1"))
        result = place / "demo/result"
        shutil.rmtree(RUN, ignore_errors=True)
        shutil.copytree(result, RUN)
        draw(place / "demo/report.html", RUN)
        write(found)
        write_regions(RUN, place / DATA)


def write_tables() -> None:
    """Write the tables of README, from the run that is kept and the sources: without a model."""
    with TemporaryDirectory(prefix="nnd-readme-") as folder:
        convert("quiz_design", out=folder)
        write_regions(RUN, Path(folder))


if __name__ == "__main__":
    write_tables() if sys.argv[1:] == ["tables"] else main()
