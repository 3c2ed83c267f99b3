"""Names that are wrong are reported before the seconds that torch takes, with what to do."""

import json

import pytest
from support.screens.commands import RanApart, run_apart

# Command, option, its value, code of the error.
WRONG = [
    ("evaluate", "--data", "quizdesign", "file.not-found"),
    ("evaluate", "--data", "./nodata", "file.not-found"),
    ("evaluate", "--data", "no.parquet", "file.not-found"),
    ("evaluate", "--data", "challenge300", "source.cannot-fetch"),
    ("evaluate", "--template", "mixgq", "template.unknown"),
    ("evaluate", "--model", "./nomodel", "model.unknown"),
    ("evaluate", "--model", "no/such/model", "model.unknown"),
    ("evaluate", "--model", "empty", "model.unknown"),
    ("evaluate", "--model", "other", "model.unknown"),
    ("evaluate", "--model", "other/a", "model.unknown"),
    ("evaluate", "--protocol", "nativ", "option.unknown-value"),
    ("evaluate", "--chat-template", "no.jinja", "template.chat"),
    ("evaluate", "--matmul", "low", "option.unknown-value"),
    ("train", "--data", "quizdesign", "file.not-found"),
    ("train", "--template", "mixgq", "template.unknown"),
    ("train", "--model", "./nomodel", "model.unknown"),
    ("train", "--batch-size", "0", "option.bad-value"),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RanApart]:
    """What became of each of those commands, and of a model named twice."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "empty").mkdir()
    (folder / "other").mkdir()
    (folder / "other" / "a").write_text("a")
    commands = []
    for command, option, value, _ in WRONG:
        given = {"--model": "gpt2", "--data": "sample", "--out": "out", option: value}
        commands.append([command, *(word for pair in given.items() for word in pair), "--json"])
    twice = ["evaluate", "--data", "sample", "--model", "gpt2", "--model", "gpt2", "--json"]
    unreachable = {"NND_CACHE": str(folder), "https_proxy": "http://127.0.0.1:9"}
    found = run_apart(*commands, twice, folder=folder, variables=unreachable)
    assert not (folder / "out").exists()
    return found


def error_of(ran: RanApart) -> dict[str, str]:
    """The error, after a check that torch was not imported for it."""
    assert ran.code == 2
    assert {"torch", "transformers"}.isdisjoint(ran.loaded)
    error: dict[str, str] = json.loads(ran.out)["error"]
    assert error["remedy"]
    return error


@pytest.mark.parametrize("place", range(len(WRONG)), ids=[" ".join(row[:3]) for row in WRONG])
def test_what_is_wrong_is_named_with_what_to_do(place: int, runs: list[RanApart]) -> None:
    *_, value, code = WRONG[place]
    error = error_of(runs[place])
    assert error["code"] == code
    assert value in " ".join(error[field] for field in ("where", "what", "remedy"))


def test_a_model_named_twice(runs: list[RanApart]) -> None:
    assert error_of(runs[-1])["code"] == "name.twice"


def test_a_source_that_cannot_be_fetched_names_what_evaluate_takes(runs: list[RanApart]) -> None:
    (place,) = (place for place, row in enumerate(WRONG) if row[-1] == "source.cannot-fetch")
    error = error_of(runs[place])
    assert "challenge300-outputs.tsv" in error["where"]
    assert "`nnd convert challenge300 --from COPY --out FOLDER`" in error["remedy"]
