"""Names that are wrong are reported before the seconds that torch takes, with what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from nnd.metric.cli.command import main
sys.argv[0] = "nnd"
try:
    main()
finally:
    print(*{"torch", "transformers"} & sys.modules.keys())
"""


def told(cache: Path, *arguments: str) -> str:
    """Return what a command says on stderr, after checking that torch was not imported for it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cache,
        env=os.environ | {"NND_CACHE": str(cache), "https_proxy": "http://127.0.0.1:9"},
    )
    assert (done.returncode, done.stdout) == (2, "\n")
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"--data": "quizdesign"}, "quizdesign: file, folder or built-in source not found (did "),
        ({"--data": "./nodata"}, "./nodata: file or folder not found; name a folder that"),
        ({"--data": "no.parquet"}, "no.parquet: file or folder not found; name a folder that"),
        ({"--template": "mixgq"}, 'unknown template "mixgq" (did you mean "mixqg"?); choose one'),
        ({"--model": "./nomodel"}, "./nomodel: no such model: folder not found; name a "),
        ({"--model": "no/such/model"}, "no/such/model: no such model: folder not found; "),
        ({"--model": "empty"}, "empty: no such model: the folder is empty; name a Hub id, a fol"),
        ({"--model": "other"}, "other: no such model: the folder has no config.json; name a Hub"),
        ({"--model": "other/a"}, "other/a: no such model: it is a file, and not a GGUF file; na"),
    ],
)  # fmt: skip
def test_a_wrong_name(options: dict[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a").write_text("a")
    given = {"--model": "gpt2", "--data": "sample", "--out": "out"} | options
    line = told(tmp_path, "evaluate", *(text for option in given.items() for text in option))
    assert line.startswith(f"nnd: {said}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--protocol", "nativ"], 'unknown protocol "nativ" (did you mean "native"?); choose one'),
        (["--chat-template", "no.jinja"], 'chat template "no.jinja": No such file or directory; '),
        (["--matmul", "low"], 'unknown matmul precision "low"; choose highest or high'),
        (["--model", "gpt2"], 'model "gpt2" is named twice; name each once'),
    ],
)
def test_a_wrong_option(options: list[str], said: str, tmp_path: Path) -> None:
    line = told(tmp_path, "evaluate", "--model", "gpt2", "--data", "sample", *options)
    assert line.startswith(f"nnd: {said}")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--data", "quizdesign"], "quizdesign: file, folder or built-in source not found"),
        (["--template", "mixgq"], 'unknown template "mixgq"'),
        (["--model", "./nomodel"], "./nomodel: no such model: folder not found; name a "),
        (["--batch-size", "0"], "batch_size is 0"),
    ],
)
def test_a_wrong_name_for_a_training(options: list[str], said: str, tmp_path: Path) -> None:
    name, value = options
    given = {"--model": "gpt2", "--data": "sample", "--out": "out", name: value}
    words = [word for option in given.items() for word in option]
    assert told(tmp_path, "train", *words).startswith(f"nnd: {said}")


def test_a_source_that_cannot_be_fetched_names_what_evaluate_takes(tmp_path: Path) -> None:
    line = told(tmp_path, "evaluate", "--model", "gpt2", "--data", "challenge300")
    assert "challenge300-outputs.tsv: cannot be fetched: " in line
    assert line.endswith(
        "try again, or convert your copy with `nnd convert challenge300 --from COPY --out FOLDER` "
        "and name FOLDER"
    )
