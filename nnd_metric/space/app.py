"""A web page for trying out the metric, on datasets and on texts of the user.

    python nnd_metric/space/app.py    # in a clone; a Space of `nnd publish-metric` runs its copy

In a Space, nnd is not installed: only the modules in the same folder can be imported
(`files.write_space`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from nnd.metric.space.trial_html import show, show_problem, show_weighing
from nnd.metric.space.trials import example, metric, try_model, weigh

if TYPE_CHECKING:
    import gradio as gr

HERE = Path(__file__).resolve().parent

SAMPLES = {
    "sample: 72 invented pairs": HERE / "sample",
    "Quiz Design": HERE.parents[1] / "demo" / "quiz_design",
}
"""Datasets that may be here: the sample in a Space, Quiz Design in a clone after `make demo`."""

PROTOCOLS = ("native", "laban2022", "bartscore", "sum", "bytes", "pmi")

HEAD = """\
# Near-Negative Distinction
Each test is a pair of texts for one context, of which people found one better. A language model
passes the test if it finds the better text more likely. This page shows how many tests a model
passes, for each type of error in the worse text.

[The paper](https://arxiv.org/abs/2205.06871) ·
[models on the Hub](https://huggingface.co/models?pipeline_tag=text-generation) ·
[datasets on the Hub](https://huggingface.co/datasets?other=near-negative-distinction)
"""

EXAMPLE = "An example: a small chat model on 200 tests of Quiz Design (BSD-3-Clause)."

TEXTS = ("The cat sat on the mat.", "Where did the cat sit?", "Where did the mat sit?")
"""The context and the two candidates that the page opens with."""


def evaluate(
    dataset: str | None, model_id: str, second_id: str = "", protocol: str = "native"
) -> str:
    """Evaluate one or two models on a dataset; return the result, or the error, as HTML."""
    models = [name.strip() for name in (model_id, second_id or "")]
    names = models[:1] if models[1] in ("", models[0]) else models
    try:
        return show(*(try_model((dataset or "").strip(), name, protocol) for name in names))
    except metric().NNDError as error:
        return show_problem(str(error))


def weigh_own(model_id: str, context: str, first: str, second: str, protocol: str) -> str:
    """Compare the likelihoods of two candidates; return the result, or the error, as HTML."""
    try:
        values, signature = weigh(model_id.strip(), context, (first, second), protocol)
    except metric().NNDError as error:
        return show_problem(str(error))
    return show_weighing((first, second), values, protocol, signature)


def page() -> "gr.Blocks":
    """Return the page."""
    import gradio as gr  # noqa: PLC0415 - not needed for `evaluate` and `weigh_own`

    def run(
        dataset: str | None,
        model_id: str,
        second_id: str,
        protocol: str,
        progress: gr.Progress = gr.Progress(track_tqdm=True),  # noqa: B008 - required by Gradio
    ) -> str:
        progress(0, desc=f"Loading {model_id.strip() or 'nothing'}")
        return evaluate(dataset, model_id, second_id, protocol)

    samples = [(label, str(path)) for label, path in SAMPLES.items() if path.is_dir()]
    blocks = gr.Blocks(title="Near-Negative Distinction", analytics_enabled=False)
    with blocks:
        gr.Markdown(HEAD)
        with gr.Row():
            model = gr.Textbox("distilgpt2", label="Model", info="Hub id, or a folder")
            second = gr.Textbox("", label="Second model", info="Optional, for comparison")
            protocol = gr.Dropdown(
                PROTOCOLS, label="Protocol", info="Tokens that count; native suits most models"
            )
        with gr.Tab("A dataset"):
            dataset = gr.Dropdown(
                samples[:1],
                label="Dataset",
                info="The sample, or ORG/name[@revision] on the Hub",
                allow_custom_value=True,
            )
            button = gr.Button("Evaluate", variant="primary")
            report = gr.HTML(
                show(example(), title=EXAMPLE), label="Result", apply_default_css=False
            )
        with gr.Tab("Your own texts"):
            context = gr.Textbox(TEXTS[0], label="Context", lines=3)
            with gr.Row():
                texts = [
                    gr.Textbox(text, label=label, lines=2, min_width=280)
                    for label, text in zip(
                        ("First candidate", "Second candidate"), TEXTS[1:], strict=True
                    )
                ]
            weighing = gr.Button("Compare", variant="primary")
            weighed = gr.HTML(label="Result", apply_default_css=False)
        inputs = [dataset, model, second, protocol]
        gr.on([button.click, model.submit, second.submit], run, inputs, report, api_name="evaluate")
        gr.on(
            [weighing.click],
            weigh_own,
            [model, context, *texts, protocol],
            weighed,
            api_name="weigh",
        )
    return blocks


def main() -> None:
    """Serve the page."""
    page().launch(css_paths=HERE / "app.css", footer_links=["api"])


if __name__ == "__main__":
    main()
