"""Task folders, run by the real lm-evaluation-harness in this process."""

import functools
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from support import tiny_models
from support.tiny_models import Family
from support.tokenizer_kinds import KINDS, build_kind
from transformers import GPT2Config, GPT2LMHeadModel

from nnd.converters.export.exporting import export
from nnd.converters.export.safe_names import distinct_names
from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import load_source
from nnd.metric.cli.command import app
from nnd.metric.likelihood import Scoring
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.run import evaluate
from nnd.metric.text.encoding.assembly import encode
from nnd.metric.text.encoding.boundary import find_crossings
from nnd.metric.text.encoding.protocols import find_protocol
from nnd.schemas.reading.parquet import read_parquet

FULL = bool(os.environ.get("NND_TEST_FULL"))
FAMILIES = list(tiny_models.CAUSAL) if FULL else ["gpt2"]
SOURCES = ("sample", "quiz_design")

Row = Callable[..., dict[str, Any]]
Results = dict[str, dict[str, float]]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def converted(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two sources from what lies in the repository: leave them as they are."""
    quiz = tmp_path_factory.mktemp("converted") / "quiz_design"
    convert("quiz_design", origin=load_source("quiz_design").folder / "fixture", out=quiz)
    return {"sample": sample, "quiz_design": quiz}


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Family]:
    """`family("gpt2")`: a tiny model with room for whole paragraphs.

    Its tokenizer leaves the blank before many words a token of its own.
    """
    return functools.cache(
        lambda name: tiny_models.build(name, tmp_path_factory.mktemp(name), window=2_048)
    )


@pytest.fixture
def toy_folder(make_source: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """`toy_folder(rows, **facts)`: convert a toy source."""

    def make(rows: Sequence[dict[str, Any]], **facts: Any) -> Path:
        convert(make_source(rows, expected=None, **facts), out=tmp_path / "toy-nnd")
        return tmp_path / "toy-nnd"

    return make


class Guess(LM):
    """A model of which everybody knows what it finds likely."""

    def __init__(self, likelihood: Callable[[str, str], float]) -> None:
        super().__init__()
        self.likelihood = likelihood

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:  # type: ignore[override]
        return [(self.likelihood(*request.args), False) for request in requests]

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:  # type: ignore[override]
        raise NotImplementedError

    def generate_until(self, requests: list[Instance]) -> list[str]:  # type: ignore[override]
        raise NotImplementedError


def harness(model: Family | LM, tasks: Path, *names: str) -> Results:
    """Run tasks: name of the task → metric → value, and `n`."""
    if isinstance(model, Family):
        model = HFLM(
            pretrained=model.model,
            tokenizer=model.tokenizer,
            backend="seq2seq" if model.encoder_decoder else "causal",
            device="cpu",
            batch_size=8,
        )
    found = simple_evaluate(
        model=model,
        tasks=list(names),
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        bootstrap_iters=0,
        log_samples=False,
    )
    return {
        task: {metric: found["results"][task][f"{metric},none"] for metric in ("acc", "acc_bytes")}
        | {"n": n["original"]}
        for task, n in found["n-samples"].items()
    }


def ours(model: Family, data: Path, protocol: str, template: str = "default") -> dict[str, float]:
    """Pass rates of the metric: category, or `overall` → rate."""
    found = evaluate(
        wrap_model(model.model, model.tokenizer, name=model.name),
        data,
        scoring=Scoring(protocol=protocol, template=template, unconditional=False, cache=False),
    )
    rates = found.results[0].rates
    by = {"overall": rates.overall, **rates.by["error_category"]}
    return {name: rate.pass_rate for name, rate in by.items() if rate.pass_rate is not None}


def loud_gpt2(vocabulary: int) -> Any:
    """A random model whose tokens are nats apart."""
    config = GPT2Config(
        vocab_size=vocabulary,
        n_positions=128,
        n_embd=32,
        n_layer=1,
        n_head=2,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return GPT2LMHeadModel(config).eval()


def nnd(*arguments: object) -> None:
    app([str(argument) for argument in arguments], standalone_mode=False)


# The accuracy is the pass rate


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", FAMILIES)
def test_accuracies_are_the_pass_rates(
    name: str,
    source: str,
    family: Callable[[str], Family],
    converted: Mapping[str, Path],
    tmp_path: Path,
) -> None:
    export(converted[source], tmp_path / "tasks", to="lm-eval")
    found = harness(family(name), tmp_path / "tasks", f"nnd_{source}")
    for metric, protocol in (("acc", "sum"), ("acc_bytes", "bytes")):
        expected = ours(family(name), converted[source], protocol)
        assert {task: each[metric] for task, each in found.items()} == {
            f"nnd_{source}_{category}": pytest.approx(rate, abs=1e-12)
            for category, rate in expected.items()
        }


def test_a_template_gives_equal_accuracies(
    family: Callable[[str], Family], converted: Mapping[str, Path], tmp_path: Path
) -> None:
    template = "{answer} | {paragraph} ->"
    data = converted["quiz_design"]
    nnd("export", data, "--to", "lm-eval", "--out", tmp_path / "tasks", "--template", template)
    found = harness(family("gpt2"), tmp_path / "tasks", "nnd_quiz_design_overall")
    rates = found["nnd_quiz_design_overall"]
    for metric, protocol in (("acc", "sum"), ("acc_bytes", "bytes")):
        assert rates[metric] == ours(family("gpt2"), data, protocol, template)["overall"]


def test_a_parted_blank_is_scored_by_both(
    toy_folder: Callable[..., Path], toy: Row, family: Callable[[str], Family], tmp_path: Path
) -> None:
    # "twenty" has its blank in its first token, "20" a token for it, which costs as much as it may.
    gpt2 = family("gpt2")
    assert gpt2.text_ids(" 20")[:1] == gpt2.text_ids(" ")
    texts = {"context": "It took", "inputs": {"question": "It took"}}
    folder = toy_folder(
        [
            toy("a", "heron", "good", candidate="20 minutes", **texts),
            toy("b", "wren", "wrong", candidate="twenty minutes", **texts),
        ]
    )
    export(folder, tmp_path / "tasks", to="lm-eval")
    rates = harness(gpt2, tmp_path / "tasks", "nnd_toy_overall")["nnd_toy_overall"]
    assert rates["acc"] == ours(gpt2, folder, "sum")["overall"]
    scored = evaluate(
        wrap_model(gpt2.model, gpt2.tokenizer),
        folder,
        scoring=Scoring(protocol="sum", unconditional=False, cache=False),
    ).scored
    lm = HFLM(pretrained=gpt2.model, tokenizer=gpt2.tokenizer, backend="causal", device="cpu")
    asked = [("It took", " 20 minutes"), ("It took", " twenty minutes")]
    found = lm.loglikelihood([Instance("loglikelihood", {}, each, 0) for each in asked])
    sums = [scored[f"ll_{side}"].item() for side in ("high", "low")]
    assert sums == pytest.approx([theirs for theirs, _ in found], abs=1e-3)


CONTEXTS = ("The cat sat", "printed in 1884", "on the mat.", "Q: who\nA:", "café 東京")
CANDIDATES = ("20 minutes", "twenty minutes", "東京", "(1884)", "!", " two blanks", "a line\nbreak")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("separator", [" ", "\n", ""])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_the_harness_token_by_token(
    kind: str, separator: str, family: Callable[[str], Family], tmp_path: Path
) -> None:
    tokenizer = build_kind(kind, family, tmp_path)
    model = loud_gpt2(len(tokenizer))
    lm = HFLM(pretrained=model, tokenizer=tokenizer, backend="causal", device="cpu")
    pairs = [(context, text) for context in CONTEXTS for text in CANDIDATES]
    crosses = find_crossings(tokenizer, pairs, separator)
    kept = [pair for pair, crossing in zip(pairs, crosses, strict=True) if not crossing]
    asked = [(context, separator + text) for context, text in kept]
    assert separator != " " or kept == pairs

    loaded = wrap_model(model, tokenizer)
    encoded = encode(loaded, find_protocol("sum"), kept, separator=separator)
    for (context, continuation), row in zip(asked, encoded, strict=True):
        if context:  # without one the harness does not come here
            read, predicted = lm._encode_pair(context, continuation)
            assert (*row.context, *row.inputs[:1]) == tuple(read)
            assert row.targets == tuple(predicted)
            assert all(row.scored)
    found = lm.loglikelihood([Instance("loglikelihood", {}, each, 0) for each in asked])
    sums = Engine(loaded, protocol="sum", separator=separator)(kept).log_likelihood
    assert sums.tolist() == pytest.approx([theirs for theirs, _ in found], abs=1e-3)


# Who passes, and what is counted


def test_the_likelier_good_candidate_passes(
    toy_folder: Callable[..., Path], toy: Row, tmp_path: Path
) -> None:
    # Per character "text of a" is as likely as -9 / 9 bytes, and "é" as -9 / 2 bytes.
    rows = [
        toy("a", "heron", "good"),
        toy("b", "wren", "wrong", candidate="é"),
        toy("c", "plover", "rude", candidate="text of c, longer"),
    ]
    likelihood = {" text of a": -9.0, " é": -8.0, " text of c, longer": -10.0}
    export(toy_folder(rows), tmp_path / "tasks", to="lm-eval")
    asked: list[str] = []

    def look_up(context: str, candidate: str) -> float:
        asked.append(context)
        return likelihood[candidate]

    found = harness(Guess(look_up), tmp_path / "tasks", "nnd_toy")
    assert found == {
        "nnd_toy_overall": {"acc": 0.5, "acc_bytes": 0.5, "n": 2},
        "nnd_toy_rude": {"acc": 1, "acc_bytes": 0, "n": 1},  # -9 / 9 < -10 / 17
        "nnd_toy_wrong": {"acc": 0, "acc_bytes": 1, "n": 1},  # -9 / 9 > -8 / 2
    }
    assert set(asked) == {"Who sings?"}


def test_two_errors_of_a_candidate_count_once_overall(
    toy_folder: Callable[..., Path], toy: Row, tmp_path: Path
) -> None:
    rows = [toy("a", "heron", "good"), toy("b", "wren", "rude"), toy("b", "wren", "wrong")]
    export(toy_folder(rows), tmp_path / "tasks", to="lm-eval")
    found = harness(Guess(lambda *_: 0.0), tmp_path / "tasks", "nnd_toy")
    failed = {"acc": 0, "acc_bytes": 0, "n": 1}  # all are equally likely, and a tie is a failure
    assert found == dict.fromkeys(("nnd_toy_overall", "nnd_toy_rude", "nnd_toy_wrong"), failed)


def test_splits_are_groups_of_their_own(
    toy_folder: Callable[..., Path], toy: Row, tmp_path: Path
) -> None:
    rows = []
    for number, split in enumerate(("valid", "TED/en", "TED/en")):
        place = {"split": split, "context_id": f"c{number}"}
        rows += [
            toy(f"a{number}", "heron", "good", **place),
            toy(f"b{number}", "wren", ("rude", "wrong", "wrong")[number], **place),
        ]
    export(toy_folder(rows), tmp_path / "tasks", to="lm-eval")
    counts = {"nnd_toy_ted_en_overall": 2, "nnd_toy_ted_en_wrong": 2}
    only = harness(Guess(lambda *_: 0.0), tmp_path / "tasks", "nnd_toy_ted_en")
    assert {task: each["n"] for task, each in only.items()} == counts
    found = harness(Guess(lambda *_: 0.0), tmp_path / "tasks", "nnd_toy")
    assert {task: each["n"] for task, each in found.items()} == counts | {
        "nnd_toy_valid_overall": 1,
        "nnd_toy_valid_rude": 1,
    }


CATEGORIES = {
    "Overall": "nnd_toy_overall_2",  # the name is taken
    "A/b": "nnd_toy_a_b",
    "a b": "nnd_toy_a_b_2",
    "a:b,*": "nnd_toy_a_b_",
    "yes": "nnd_toy_yes",
    "007": "nnd_toy_007",
    "!function os.system": "nnd_toy__function_os_system",
    "{{ 1 }}": "nnd_toy__1_",
    "Überfluß": "nnd_toy_überfluß",
    "x" * 300: "nnd_toy_" + "x" * 192,  # 200 bytes in all
    "字" * 100: "nnd_toy_" + "字" * 64,  # three bytes each
}


def test_categories_may_be_called_anything(
    toy_folder: Callable[..., Path], toy: Row, tmp_path: Path
) -> None:
    # The i-th category has i tests (counting from 1), and is known by that.
    rows = []
    for number, category in enumerate(CATEGORIES, start=1):
        for copy in range(number):
            place = {"context_id": f"c{number}.{copy}"}
            rows += [
                toy(f"a{number}.{copy}", "heron", "good", **place),
                toy(f"b{number}.{copy}", "wren", category, **place),
            ]
    entry = {"name": "n", "group": None, "description": "d"}
    folder = toy_folder(rows, taxonomy=dict.fromkeys(CATEGORIES, entry))
    export(folder, tmp_path / "tasks", to="lm-eval")
    found = harness(Guess(lambda *_: 0.0), tmp_path / "tasks", "nnd_toy")
    expected = {name: number for number, name in enumerate(CATEGORIES.values(), start=1)}
    assert {task: each["n"] for task, each in found.items()} == expected | {"nnd_toy_overall": 66}


def test_names_are_distinct_even_without_letter_case() -> None:
    assert distinct_names(["a b", "A-b", "a_b", "a_b_2", "?"]) == [
        "a_b",
        "A_b_2",
        "a_b_3",
        "a_b_2_2",
        "_",
    ]


def test_sets_and_variants_have_names_of_their_own(tmp_path: Path) -> None:
    fixture = load_source("frank").folder / "fixture"
    convert("frank", origin=fixture, set_name="factuality", out=tmp_path / "frank")
    export(tmp_path / "frank", tmp_path / "tasks", to="lm-eval")
    groups = [path.stem for path in (tmp_path / "tasks").glob("*.yaml")]
    assert "nnd_frank_factuality" in groups


# What the harness cannot score


def test_pairs_with_a_blank_text_are_left_out_and_told(
    toy_folder: Callable[..., Path], toy: Row, family: Callable[[str], Family], tmp_path: Path
) -> None:
    rows = [
        toy("a", "heron", "good"),
        toy("b", "wren", "wrong", candidate=""),  # the first pair: the harness looks at that
        toy("c", "plover", "wrong"),
        toy("d", "plover", "rude", candidate=""),
    ]
    folder = toy_folder(rows, empty_candidates="keep")
    exported = export(folder, tmp_path / "tasks", to="lm-eval")
    assert exported.rows == 1
    assert any("blank text: 2; the metric counts" in note for note in exported.notes)
    assert harness(family("gpt2"), tmp_path / "tasks", "nnd_toy_overall")
    manager = TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False)
    (task,) = manager.load("nnd_toy_wrong")["tasks"].values()
    assert task.config.metadata["left_out"] == 2


def test_contexts_that_end_in_white_space_are_told(
    toy_folder: Callable[..., Path], toy: Row, tmp_path: Path
) -> None:
    rows = [
        toy(*each, context="Who sings?\n", inputs={"question": "Who sings?\n"})
        for each in (("a", "heron", "good"), ("b", "wren", "wrong"), ("c", "plover", "rude"))
    ]
    exported = export(toy_folder(rows), tmp_path / "tasks", to="lm-eval")
    assert any(note.endswith("and the metric does not: 2") for note in exported.notes)


def test_of_encoder_decoders_the_harness_scores_no_end_token(
    toy_folder: Callable[..., Path], toy: Row, tmp_path: Path
) -> None:
    # What the README says: T5's numbers are ours less the end token's, so verdicts are others.
    t5 = tiny_models.build("t5", tmp_path)
    folder = toy_folder([toy("a", "heron", "good"), toy("b", "wren", "wrong")])
    export(folder, tmp_path / "tasks", to="lm-eval")
    assert harness(t5, tmp_path / "tasks", "nnd_toy_overall")["nnd_toy_overall"]["n"] == 1
    lm = HFLM(pretrained=t5.model, tokenizer=t5.tokenizer, backend="seq2seq", device="cpu")
    request = Instance("loglikelihood", {}, ("Who sings?", " text of a"), 0)
    ((theirs, _),) = lm.loglikelihood([request])
    labels = torch.tensor([[*t5.target_ids("text of a"), 1]])  # 1 is </s>
    read = torch.tensor([[*t5.text_ids("Who sings?"), 1]])
    with torch.no_grad():
        logits = t5.model(input_ids=read, labels=labels).logits[0].double()
    tokens = logits.log_softmax(-1).gather(1, labels[0].unsqueeze(1)).squeeze(1)
    assert theirs == pytest.approx(float(tokens[:-1].sum()), abs=1e-3)
    scored = evaluate(
        wrap_model(t5.model, t5.tokenizer),
        folder,
        scoring=Scoring(protocol="sum", unconditional=False, cache=False),
    ).scored
    assert scored["ll_high"].item() == pytest.approx(float(tokens.sum()), abs=1e-3)


# The folder


def test_the_folder_works_from_anywhere_and_after_a_move(
    converted: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorter = Guess(lambda _, candidate: -float(len(candidate)))
    export(converted["sample"], tmp_path / "tasks", to="lm-eval")
    before = harness(shorter, tmp_path / "tasks", "nnd_sample")
    (tmp_path / "else" / "where").mkdir(parents=True)
    shutil.move(tmp_path / "tasks", tmp_path / "else" / "where" / "moved")
    monkeypatch.chdir(tmp_path / "else")
    assert harness(shorter, Path("where/moved"), "nnd_sample") == before
    pairs = read_parquet(converted["sample"] / "pairs.parquet")
    lengths = [pl.col(f"candidate_{side}").str.len_chars() for side in ("high", "low")]
    wins = pairs.filter(lengths[0] < lengths[1]).height
    assert before["nnd_sample_overall"]["acc"] == pytest.approx(wins / 72)
    assert 0 < wins < 72


def test_the_metadata_names_the_data_as_the_metrics_signature_does(
    family: Callable[[str], Family], converted: Mapping[str, Path], tmp_path: Path
) -> None:
    export(converted["sample"], tmp_path / "tasks", to="lm-eval")
    manager = TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False)
    (task,) = manager.load("nnd_sample_overall")["tasks"].values()
    data = task.config.metadata["data"]
    assert task.VERSION == 1
    gpt2 = family("gpt2")
    found = evaluate(
        wrap_model(gpt2.model, gpt2.tokenizer),
        converted["sample"],
        scoring=Scoring(unconditional=False, cache=False),
    )
    assert f"|data:{data}|" in found.results[0].signature


def test_the_readme_tells_how_to_run_it(converted: Mapping[str, Path], tmp_path: Path) -> None:
    export(converted["sample"], tmp_path / "tasks", to="lm-eval")
    text = (tmp_path / "tasks" / "README.md").read_text(encoding="utf-8")
    assert "--tasks nnd_sample --include_path FOLDER" in text
    assert "Licence: CC0-1.0" in text
