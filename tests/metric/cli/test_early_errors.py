"""Names that are wrong are reported before the seconds that torch takes, with what to do."""

import json
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


def refused(cache: Path, *arguments: str) -> dict[str, str]:
    """Return a command's error, after checking that torch was not imported for it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=cache,
        env=os.environ | {"NND_CACHE": str(cache), "https_proxy": "http://127.0.0.1:9"},
    )
    assert done.returncode == 2
    error: dict[str, str] = json.loads(done.stdout.removesuffix("}\n\n") + "}")["error"]
    assert error["remedy"]
    return error


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--data", "quizdesign", "file.not-found"),
        ("--data", "./nodata", "file.not-found"),
        ("--data", "no.parquet", "file.not-found"),
        ("--template", "mixgq", "template.unknown"),
        ("--model", "./nomodel", "model.unknown"),
        ("--model", "no/such/model", "model.unknown"),
        ("--model", "empty", "model.unknown"),
        ("--model", "other", "model.unknown"),
        ("--model", "other/a", "model.unknown"),
    ],
)
def test_a_wrong_name(option: str, value: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a").write_text("a")
    given = {"--model": "gpt2", "--data": "sample", "--out": "out", option: value}
    error = refused(tmp_path, "evaluate", *(text for option in given.items() for text in option))
    assert error["code"] == code
    assert value in f"{error['where']} {error['what']}"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--protocol", "nativ", "option.unknown-value"),
        ("--chat-template", "no.jinja", "template.chat"),
        ("--matmul", "low", "option.unknown-value"),
        ("--model", "gpt2", "name.twice"),
    ],
)
def test_a_wrong_option(option: str, value: str, code: str, tmp_path: Path) -> None:
    words = ["--model", "gpt2", "--data", "sample", option, value]
    assert refused(tmp_path, "evaluate", *words)["code"] == code


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--data", "quizdesign", "file.not-found"),
        ("--template", "mixgq", "template.unknown"),
        ("--model", "./nomodel", "model.unknown"),
        ("--batch-size", "0", "option.bad-value"),
    ],
)
def test_a_wrong_name_for_a_training(option: str, value: str, code: str, tmp_path: Path) -> None:
    given = {"--model": "gpt2", "--data": "sample", "--out": "out", option: value}
    words = [word for option in given.items() for word in option]
    assert refused(tmp_path, "train", *words)["code"] == code


def test_a_source_that_cannot_be_fetched_names_what_evaluate_takes(tmp_path: Path) -> None:
    error = refused(tmp_path, "evaluate", "--model", "gpt2", "--data", "challenge300")
    assert error["code"] == "source.cannot-fetch"
    assert "challenge300-outputs.tsv" in error["where"]
    assert "`nnd convert challenge300 --from COPY --out FOLDER`" in error["remedy"]
