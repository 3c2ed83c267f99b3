"""Fetch every built-in source from where it is published, convert it, and compare what it yields.

`python .ci/fetch_sources.py FOLDER` writes the converted folders there. A source whose main reading
needs a choice is read as each of its sets. What has no URL is fetched by the commands that its
source.yaml states. Digests are checked by `convert`, and counts where the digests are known.
"""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nnd.converters.source.source import Source, list_sources


class Fetch(NamedTuple):
    """What is run to convert one reading of a source."""

    name: str
    commands: list[list[str]]


def fetches() -> Iterator[Fetch]:
    """Yield how each source is fetched and converted, in each of its sets."""
    for source in list_sources():
        names = [None, *source.facts.get("sets", {})]
        for name in names:
            chosen = source if name is None else source.choose("set", name)
            label = source.name if name is None else f"{source.name}-{name.replace('/', '-')}"
            yield Fetch(label, [*_commands(chosen, source.name, name, label)])


def _commands(source: Source, name: str, set_name: str | None, out: str) -> Iterator[list[str]]:
    convert = ["nnd", "convert", name, "--out", out]
    if set_name is not None:
        convert += ["--set", set_name]
    for file in source.files:
        if file.obtain is not None:
            yield from map(shlex.split, file.obtain["commands"])
            convert += ["--from", file.obtain["from"]]
    yield convert


def main(folder: Path) -> int:
    """Run all of them in a folder; return how many failed."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name, commands in fetches():
        for command in commands:
            print("+", shlex.join(command), flush=True)
            if subprocess.run(command, cwd=folder, check=False).returncode:
                failed.append(name)
                break
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "all were fetched")
    return len(failed)


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1])), 1))
