"""The code blocks of README, CONTRIBUTING and the guide, and running them as a reader would."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from support.places import ROOT

from nnd.schemas import load_yaml

GUIDE = tuple(sorted(f"cards/guide/{path.name}" for path in (ROOT / "cards/guide").glob("*.md")))
FIRST_RUN = "cards/guide/first-run.md"
DOCUMENTS = ("README.md", "CONTRIBUTING.md", *GUIDE)
RUN = {"sh", "python", "yaml", "toml"}
"""Languages of blocks that are run, unless they say why not."""

CLONED = ("converters", "nnd_metric", "schemas", "cards", "tests")
WIDTH = "104"
NOTHING = re.compile(r"(?!)")

_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<why>[^\n]+) -->\n+)?(?:^<!-- shown: (?P<shown>[^\n]+) -->\n+)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block: where it begins, its language, and why it is not run, if so.

    One without a language shows what the block before it printed, or what the command of a comment
    before it prints, `<!-- shown: COMMAND -->`: it finds the former in the file $OUT, and what a
    command of `first-run.md` printed in the folder $SHOWN.
    """

    document: str
    line: int
    language: str
    text: str
    why_not: str | None
    shown: str | None
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(document: str) -> Iterator[Block]:
    text = (ROOT / document).read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        span = found.span("text")
        yield Block(
            document, line, found["language"], found["text"], found["why"], found["shown"], *span
        )


def fresh_clone(place: Path) -> Path:
    """Return a folder that looks like a clone, in which a reader may leave what they like."""
    place.mkdir()
    for name in CLONED:
        (place / name).symlink_to(ROOT / name)
    return place


def reader(**variables: str) -> dict[str, str]:
    """Return the environment of somebody who has activated .venv."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, **variables}


def follow(block: Block, place: Path, variables: Mapping[str, str]) -> str:
    """Do what a block says; return what was printed.

    Shell blocks are run line by line, the first failure ends them. A YAML block that begins with
    `# FILE` is what a reader writes into that file: its fields replace those that are there.
    """
    match block.language:
        case "sh":
            return _run(["bash", "-euo", "pipefail", "-c", block.text], block, place, variables)
        case "python":
            return _run(["python", "-c", block.text], block, place, variables)
        case "yaml":
            path = place / block.text.partition("\n")[0].removeprefix("# ")
            facts = load_yaml(path.read_text(encoding="utf-8"))
            facts |= load_yaml(block.text)
            path.write_text(yaml.safe_dump(facts, sort_keys=False), encoding="utf-8")
    return ""


def _run(command: list[str], block: Block, place: Path, variables: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, cwd=place, env=dict(variables), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{block}: {done.stdout}\n{done.stderr}"
    return done.stdout


class Reading:
    """A reader on the way through documents, who does what their blocks say, each once.

    Attributes:
        place: The folder that the reader works in.
        printed: What the blocks that were read have printed.
        shown: Block that shows what was printed → what it should show.
    """

    def __init__(
        self,
        documents: Sequence[str],
        place: Path,
        variables: Mapping[str, str],
        kept: Path,
        *,
        skip: re.Pattern[str] = NOTHING,
        differ: re.Pattern[str] = NOTHING,
    ) -> None:
        """Begin to read.

        Args:
            documents: Their paths, in order.
            place: The folder to work in.
            variables: The environment.
            kept: Where what the first run prints is put, and is found by other documents.
            skip: What is in blocks that are not run.
            differ: What is in blocks that print something else here than they show.
        """
        self.place, self.printed, self.shown = place, "", dict[Block, str]()
        self._kept, self._out = kept, place.with_name("printed")
        found = {"COLUMNS": WIDTH, "OUT": str(self._out), "SHOWN": str(kept)}
        self._variables = {**variables, **found}
        self._left = [block for document in documents for block in blocks(document)]
        self._skip, self._differ = skip, differ
        self._as_shown = True

    def read(self, last: Block | None = None) -> None:
        """Go on until a block is done, if it is not, or to the end."""
        while self._left and (last is None or last in self._left):
            block = self._left.pop(0)
            if block.language == "" and self._as_shown:
                self.shown[block] = self._what_is_shown(block)
            elif is_run(block) and self._skip.search(block.text):
                self._as_shown = False
            elif is_run(block):
                self._follow(block)

    def _follow(self, block: Block) -> None:
        printed = follow(block, self.place, self._variables)
        self.printed += printed
        if block.language in ("sh", "python"):
            self._as_shown = not self._differ.search(block.text)
            self._out.write_text(printed, encoding="utf-8")
            if block.document == FIRST_RUN and block.text.startswith("nnd "):
                shutil.copy(self._out, self._kept / block.text.split()[1])

    def _what_is_shown(self, block: Block) -> str:
        if block.shown is None:
            return tidy(self._out.read_text(encoding="utf-8"))
        shell = block._replace(language="sh", text=block.shown)
        return tidy(follow(shell, self.place, self._variables))


def tidy(text: str) -> str:
    """Return what was printed without blanks at the ends of lines and empty lines around it."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n") + "\n"


def is_run(block: Block) -> bool:
    return block.why_not is None and block.language in RUN


def to_follow(document: str) -> list[Block]:
    """Return the blocks of a document that are run."""
    return [block for block in blocks(document) if is_run(block)]


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the `nnd` commands of a shell block as words, heredocs and comments left out."""
    text = re.sub(r"<<'(\w+)'\n.*?^\1$", "", block.text, flags=re.MULTILINE | re.DOTALL)
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if "nnd" in words:
            yield words[words.index("nnd") + 1 :]
