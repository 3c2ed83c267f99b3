"""The page to try the metric on, served as in a Space: without the package."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gradio_client import Client
from support.html_reader import Reader
from support.metric_runs import LOADER, save_model, write_pairs

from nnd.metric.likelihood import Scoring
from nnd.metric.run import evaluate as evaluate_models
from nnd.metric.space import app
from nnd.metric.space.files import write_space
from nnd.metric.space.trial_html import show
from nnd.metric.space.trials import example

pytestmark = pytest.mark.full  # the functions of the page run in `test_app`, without a server

STARTS_WITHIN = 120.0  # seconds; a busy machine imports torch and Gradio slowly

SERVE = """
import runpy, sys
sys.path.insert(0, {tests!r})
from support.load_metric import Refuser
sys.meta_path.insert(0, Refuser())
sys.path[0] = {space!r}
runpy.run_path({space!r} + "/app.py", run_name="__main__")
"""

Evaluate = Callable[..., str]


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("space")
    write_space("org/near-negative", place, sdk="gradio")
    return place


@pytest.fixture(scope="module")
def evaluate(client: Client) -> Evaluate:
    """`evaluate(model_id=…, …)`: what the served page answers; what is left out is as it opens."""
    return lambda **asked: str(client.predict(**asked, api_name="/evaluate"))


@pytest.fixture(scope="module")
def client(space: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The page, served."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    ours = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    ours |= {
        "GRADIO_SERVER_PORT": str(port),
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_HOME": str(home),
        "NND_CACHE": str(home / "nnd"),
        "OMP_NUM_THREADS": "1",
    }
    program = SERVE.format(tests=str(LOADER.parents[1]), space=str(space))
    with (
        (home / "log").open("w+") as log,
        subprocess.Popen(
            [sys.executable, "-c", program], env=ours, cwd=home, stdout=log, stderr=log
        ) as server,
    ):
        try:
            yield _connect(port, server, home / "log")
        finally:
            server.terminate()


def _connect(port: int, server: subprocess.Popen[bytes], log: Path) -> Client:
    start = time.monotonic()
    while time.monotonic() - start < STARTS_WITHIN:
        assert server.poll() is None, log.read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return Client(f"http://127.0.0.1:{port}", verbose=False)
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.mark.full
def test_the_served_page_evaluates_the_embedded_sample(
    evaluate: Evaluate, space: Path, tmp_path: Path
) -> None:
    model = save_model("gpt2", tmp_path)
    page = evaluate(model_id=model, protocol="sum")
    scoring = Scoring(protocol="sum")
    found = evaluate_models(model, space / "sample", scoring=scoring)
    result = found.results[0].to_dict()
    shown = " ".join(Reader(page).texts)
    assert f"{100 * result['pass_rate']:.1f} % of 72 tests passed" in shown
    assert shown.endswith(result["signature"])
    assert f"{72 - result['passes']} failed tests" in shown


def test_the_served_page_tells_what_is_wrong(evaluate: Evaluate) -> None:
    page = evaluate(model_id="./nowhere")
    assert re.fullmatch(r'<div class="nnd"><p class="problem" role="alert">.*</p></div>', page)
    assert "./nowhere: no such model" in page
    assert "Name a model" in evaluate(model_id=" ")


def test_the_served_page_weighs_texts_of_ones_own(client: Client, tmp_path: Path) -> None:
    model = save_model("gpt2", tmp_path)
    row = {"context": "c d", "candidate_high": "a b", "candidate_low": "b a"}
    result = evaluate_models(model, [row])
    high, low = result.scored.select("ll_high", "ll_low").row(0)
    asked = {"model_id": model, "context": "c d", "first": "a b", "second": "b a"}
    read = Reader(str(client.predict(**asked, protocol="native", api_name="/weigh")))
    which = "first" if high > low else "second"
    assert (
        read.texts[0]
        == f"The {which} candidate is more likely, by {abs(high - low):.3f} nats per token."
    )
    assert read.texts[-1] == result.results[0].signature


def test_the_served_page_opens_with_an_example(client: Client) -> None:
    values = [str(each["props"].get("value")) for each in client.config["components"]]
    (shown,) = [value for value in values if value.startswith('<div class="nnd">')]
    assert shown == show(example(), title=app.EXAMPLE)


def test_the_served_page_takes_other_data(evaluate: Evaluate, tmp_path: Path) -> None:
    model, data = save_model("t5", tmp_path), write_pairs(tmp_path)
    page = evaluate(dataset=str(data), model_id=model, protocol="bartscore")
    result = evaluate_models(model, data, scoring=Scoring(protocol="bartscore")).results[0]
    assert " ".join(Reader(page).texts).endswith(result.signature)
