"""A page to try the metric on: what a model passes, where, and which pairs it fails.

    python nnd_metric/space/app.py    # in a clone; a Space of `nnd publish-metric` runs its copy

A script that imports nothing of nnd, which a Space does not have: it loads the metric as any user
does, with `evaluate.load`. Everything but `page` works without Gradio.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import evaluate
import polars as pl

if TYPE_CHECKING:
    import gradio as gr

HERE = Path(__file__).resolve().parent

SAMPLES = (HERE / "sample", HERE.parents[1] / "demo" / "sample")
"""The embedded sample: in a Space, and in a clone after `make demo`."""

PROTOCOLS = ("native", "laban2022", "bartscore", "sum", "bytes")

MOST_SHOWN = 50
"""Failures on the page, worst first."""

JUDGES = {
    "shorter_wins": "prefers the shorter text",
    "longer_wins": "prefers the longer text",
    "copy_wins": "prefers what copies more of the context",
    "unconditional": "is the same model, without the context",
}
"""What each of the metric's baselines does."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What one model did on some pairs.

    Attributes:
        result: Its pass rates (`result.schema.json`, a model result).
        failures: The texts of the tests that it failed, worst first: context, candidate_high,
            candidate_low, error_category (several joined by a comma, or null), margin
            (log-likelihood of the better candidate minus that of the worse, or null where one is
            undefined), tests (how many there are with these texts).
    """

    result: Mapping[str, Any]
    failures: pl.DataFrame


def try_model(dataset: str, model_id: str, protocol: str = "native") -> Trial:
    """Score the pairs of a dataset with a model.

    Args:
        dataset: Converted folder, Parquet file, or ORG/name[@revision] on the Hub.
        model_id: Hub id or folder.
        protocol: One of PROTOCOLS.

    Raises:
        ValueError: The metric's ScoringError: pairs or model cannot be used, and why.
    """
    if not dataset or not model_id:
        missing = "a model, e.g. distilgpt2" if dataset else "a dataset: the sample, or ORG/name"
        raise metric().ScoringError(f"Name {missing}.")
    pairs = metric().load_pairs(dataset)
    scoring = metric().Scoring(protocol=protocol)
    found = metric().evaluate_models(model_id, pairs, scoring=scoring)
    (result,) = found.results
    return Trial(result.to_dict(), _failures(pairs.pairs, found.scored))


@cache
def metric() -> ModuleType:
    """Return the module of the metric's class, with the functions that the class uses.

    `compute` gives rates; which pairs failed is seen in the likelihoods behind them.
    """
    return sys.modules[type(evaluate.load(str(_script()))).__module__]


def _script() -> Path:
    """Return what `evaluate` loads: in a clone the thin script, in a Space the class itself."""
    in_a_clone = HERE.parent / "nnd_metric.py"
    return in_a_clone if in_a_clone.is_file() else next(filter(_holds_metric, HERE.glob("*.py")))


def _holds_metric(path: Path) -> bool:
    """Return whether this is the script of a Space, which is called like the Space."""
    return re.search(r"^class NND\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def _failures(pairs: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Gather failures of the same texts: of several systems, or of several error categories."""
    texts = ["context", "candidate_high", "candidate_low"]
    tests = ["split", "context_id", "high_id", "low_id"]
    verdicts = scored.select("passed", margin=pl.col("ll_high") - pl.col("ll_low"))
    known = pairs.select(*texts, *tests, "error_category")
    failed = pl.concat([known, verdicts], how="horizontal").filter(~pl.col("passed"))
    labels = pl.col("error_category").drop_nulls().unique(maintain_order=True)
    return (
        failed.group_by(texts, maintain_order=True)
        .agg(
            labels.str.join(", ").replace("", None),
            pl.col("margin").first(),
            pl.struct(tests).n_unique().alias("tests"),
        )
        .sort("margin", nulls_last=True, maintain_order=True)
    )


# --- HTML; all that comes from data is escaped ------------------------------------------------


def show(trial: Trial) -> str:
    """Return a trial as HTML: headline, chart, what the tests give away, failures, signature."""
    result = trial.result
    return "\n".join(
        [
            '<div class="nnd">',
            *_headline(result),
            "<h3>Pass rate by error category</h3>",
            *_chart(result),
            "<h3>What the tests give away</h3>",
            *_confounds(result),
            f"<h3>{_failures_title(trial)}</h3>",
            *map(_failure, trial.failures.head(MOST_SHOWN).iter_rows(named=True)),
            f'<p class="signature">Signature<br><code>{escape(result["signature"])}</code></p>',
            "</div>",
        ]
    )


def show_problem(message: str) -> str:
    """Return, as HTML, why there is no result."""
    return f'<div class="nnd"><p class="problem" role="alert">{escape(message)}</p></div>'


def _headline(result: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f'<p class="headline"><strong>{_percent(result["pass_rate"])}</strong> '
        f"of {result['n']:,} tests passed{_interval(result)}</p>"
    )
    counts = {
        "equal likelihoods, counted as failures": result["ties"],
        "without a likelihood, counted as failures": result["unscored"],
        "with a context cut to fit the model's window": result["truncated"],
    }
    told = [f"{count:,} {what}" for what, count in counts.items() if count]
    if told:
        yield f'<p class="quiet">{"; ".join(told)}</p>'


def _chart(result: Mapping[str, Any]) -> Iterator[str]:
    rates = {"all tests": result, **result["by_error_category"]}
    yield '<table class="chart">'
    yield "<thead><tr><th>category</th><th>0 to 100 %, line at a coin's 50 %</th>"
    yield "<th>passed</th><th>95 % interval</th><th>n</th></tr></thead><tbody>"
    for name, rate in rates.items():
        yield (
            f"<tr><th>{_text(name)}</th><td>{_track(rate)}</td>"
            f"<td>{_percent(rate['pass_rate'])}</td><td>{_bounds(rate)}</td>"
            f"<td><span>n = </span>{rate['n']:,}</td></tr>"
        )
    yield "</tbody></table>"
    if not result["by_error_category"]:
        yield '<p class="quiet">These pairs name no error categories.</p>'


def _track(rate: Mapping[str, Any]) -> str:
    """Return a dot at the pass rate on its interval, or nothing where there is no test."""
    if rate["pass_rate"] is None:
        return ""
    low, high = (100 * end for end in rate["interval"] or [rate["pass_rate"]] * 2)
    return (
        '<div class="track" aria-hidden="true">'
        f'<i style="left:{low:.2f}%;width:{high - low:.2f}%"></i>'
        f'<b style="left:{100 * rate["pass_rate"]:.2f}%"></b></div>'
    )


def _confounds(result: Mapping[str, Any]) -> Iterator[str]:
    yield '<table class="confounds"><thead><tr><th>a judge that …</th><th>passes</th>'
    yield "<th>stands</th></tr></thead><tbody>"
    for name, baseline in result["baselines"].items():
        if baseline is not None:
            yield (
                f"<tr><th>{JUDGES[name]}</th><td>{_percent(baseline['with_coin'])}</td>"
                f"<td>{_stands(baseline['lead_interval'])}</td></tr>"
            )
    yield "</tbody></table>"
    matched = result["length_matched"]
    if matched is not None and matched["pass_rate"] is not None:
        yield (
            "<p>Where the two texts are equally long, within 10 %, the model passes "
            f"{_percent(matched['pass_rate'])} of {matched['n']:,} tests{_interval(matched)}.</p>"
        )
    yield from (f'<p class="note">{escape(note)}</p>' for note in result["notes"])


def _stands(lead: Sequence[float] | None) -> str:
    """Say where a judge stands, from the interval of the model's lead over it."""
    low, high = lead or (-1.0, 1.0)
    if low > 0:
        return "behind the model"
    return "ahead of the model" if high < 0 else "cannot be told apart"


def _failures_title(trial: Trial) -> str:
    failed = trial.failures
    if failed.is_empty():
        return "No test failed"
    title = f"{failed['tests'].sum():,} failed tests"
    return title if failed.height <= MOST_SHOWN else f"{title}, the worst of them"


def _failure(row: Mapping[str, Any]) -> str:
    margin = row["margin"]
    told = "no likelihood" if margin is None else f"margin {margin:.3f}".replace("-", "\u2212")
    if row["tests"] > 1:
        told += f" in {row['tests']} tests"
    return (
        f'<article class="failure"><header><span>{_text(row["error_category"] or "")}</span>'
        f'<span>{told}</span></header><p class="context" tabindex="0">{_text(row["context"])}</p>'
        f"<p><em>people preferred</em>{_text(row['candidate_high'])}</p>"
        f"<p><em>the model did not prefer it to</em>{_text(row['candidate_low'])}</p></article>"
    )


def _text(text: str) -> str:
    """Isolate a text: its direction of writing must not turn what stands beside it."""
    return f"<bdi>{escape(text)}</bdi>"


def _interval(rate: Mapping[str, Any]) -> str:
    return f", 95 % interval {_bounds(rate)}" if rate["interval"] else ""


def _bounds(rate: Mapping[str, Any]) -> str:
    return " to ".join(f"{100 * end:.1f}" for end in rate["interval"] or ())


def _percent(share: float | None) -> str:
    return "no test" if share is None else f"{100 * share:.1f} %"


# --- the page ---------------------------------------------------------------------------------


def page() -> "gr.Blocks":
    """Return the page; Gradio is needed from here on."""
    import gradio as gr  # noqa: PLC0415

    def run(
        dataset: str | None,
        model_id: str,
        protocol: str,
        progress: gr.Progress = gr.Progress(track_tqdm=True),  # noqa: B008 - Gradio asks for it
    ) -> str:
        progress(0, desc=f"Loading {model_id.strip() or 'nothing'}")
        try:
            return show(try_model((dataset or "").strip(), model_id.strip(), protocol))
        except metric().ScoringError as error:
            return show_problem(str(error))

    samples = [("the sample: 72 invented pairs", str(path)) for path in SAMPLES if path.is_dir()]
    blocks = gr.Blocks(title="Near-Negative Distinction", analytics_enabled=False)
    with blocks:
        gr.Markdown(
            "# Near-Negative Distinction\n"
            "People judged two texts written for one context, and found one of them better. Does "
            "a language model find that one more likely, too? Each such pair is a test; this page "
            "counts how many a model passes, by what is wrong with the worse text."
        )
        with gr.Row():
            dataset = gr.Dropdown(
                samples[:1],
                label="Dataset",
                info="The sample, or ORG/name[@revision] on the Hub",
                allow_custom_value=True,
                min_width=280,
            )
            model = gr.Textbox(
                "distilgpt2", label="Model", info="Hub id, or a folder", min_width=280
            )
            protocol = gr.Dropdown(
                PROTOCOLS,
                label="Protocol",
                info="Which tokens count; native fits most uses",
                min_width=280,
            )
        button = gr.Button("Evaluate", variant="primary")
        report = gr.HTML(label="Result", min_height=160, apply_default_css=False)
        inputs = [dataset, model, protocol]
        gr.on([button.click, model.submit], run, inputs, report, api_name="evaluate")
    return blocks


def main() -> None:
    """Serve the page."""
    page().launch(css_paths=HERE / "app.css", footer_links=["api"])


if __name__ == "__main__":
    main()
