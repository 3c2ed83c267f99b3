"""The code blocks of README, CONTRIBUTING and the guide, and running them as a reader would."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from support.places import ROOT

from nnd.converters.reading import load_yaml

GUIDE = tuple(sorted(f"cards/guide/{path.name}" for path in (ROOT / "cards/guide").glob("*.md")))
DOCUMENTS = ("README.md", "CONTRIBUTING.md", *GUIDE)
RUN = {"sh", "python", "yaml", "toml"}
"""Languages of blocks that are run, unless they say why not."""

CLONED = ("converters", "nnd_metric", "schemas", "cards", "tests")

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


def follow(block: Block, place: Path, variables: Mapping[str, str], before: str = "") -> str:
    """Do what a block says; return what was printed.

    Shell blocks are run line by line, the first failure ends them. A YAML block that begins with
    `# FILE` is what a reader writes into that file: its fields replace those that are there.
    """
    match block.language:
        case "sh":
            return _run(["bash", "-euo", "pipefail", "-c", block.text], block, place, variables)
        case "python":
            program = f"{before}\n{block.text}"
            return _run(["python", "-c", program], block, place, variables)
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
    """A reader on the way through a document, who does what its blocks say, each once.

    Attributes:
        place: The folder that the reader works in.
        printed: What the blocks that were read have printed.
    """

    def __init__(self, documents: Sequence[str], place: Path, variables: Mapping[str, str]) -> None:
        self.place, self.printed = place, ""
        self._variables = variables
        self._left = [block for document in documents for block in to_follow(document)]

    def read(self, last: Block | None = None) -> None:
        """Go on until a block is done, if it is not, or to the end."""
        while self._left and (last is None or last in self._left):
            self.printed += follow(self._left.pop(0), self.place, self._variables)


def to_follow(document: str) -> list[Block]:
    """Return the blocks of a document that are run."""
    found = blocks(document)
    return [block for block in found if block.why_not is None and block.language in RUN]


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the `nnd` commands of a shell block as words, heredocs and comments left out."""
    text = re.sub(r"<<'(\w+)'\n.*?^\1$", "", block.text, flags=re.MULTILINE | re.DOTALL)
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if "nnd" in words:
            yield words[words.index("nnd") + 1 :]
