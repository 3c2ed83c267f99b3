"""A page to try the metric on: what models pass, which pairs they fail, and texts of one's own.

    python nnd_metric/space/app.py    # in a clone; a Space of `nnd publish-metric` runs its copy

In a Space the modules beside it are its only ones of nnd (`files.write_space`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from nnd.metric.space.trial_html import show, show_problem, show_weighed
from nnd.metric.space.trials import example, metric, try_model, weigh

if TYPE_CHECKING:
    import gradio as gr

HERE = Path(__file__).resolve().parent

SAMPLES = (HERE / "sample", HERE.parents[1] / "demo" / "sample")
"""The embedded sample: in a Space, and in a clone after `make demo`."""

PROTOCOLS = ("native", "laban2022", "bartscore", "sum", "bytes", "pmi")

HEAD = """\
# Near-Negative Distinction
People judged two texts written for one context, and found one of them better. Does a language model
find that one more likely, too? Each such pair is a test; this page counts how many a model passes,
by what is wrong with the worse text.

[The paper](https://arxiv.org/abs/2205.06871) ·
[models on the Hub](https://huggingface.co/models?pipeline_tag=text-generation) ·
[datasets on the Hub](https://huggingface.co/datasets?other=near-negative-distinction)
"""

EXAMPLE = (
    "An example: a toy model, trained in seconds on the sample it is tested on. Yours goes here."
)

OWN = ("The cat sat on the mat.", "Where did the cat sit?", "Where did the mat sit?")
"""A context and two candidates, to begin with."""


def evaluate(
    dataset: str | None, model_id: str, second_id: str = "", protocol: str = "native"
) -> str:
    """Return what one or two models do on the pairs of a dataset, or why it cannot be said."""
    models = [name.strip() for name in (model_id, second_id or "")]
    names = models[:1] if models[1] in ("", models[0]) else models
    try:
        return show(*(try_model((dataset or "").strip(), name, protocol) for name in names))
    except metric().ScoringError as error:
        return show_problem(str(error))


def weigh_own(model_id: str, context: str, first: str, second: str, protocol: str) -> str:
    """Return which of two candidates a model finds likelier, or why it cannot be said."""
    try:
        return show_weighed(weigh(model_id.strip(), context, (first, second), protocol))
    except metric().ScoringError as error:
        return show_problem(str(error))


def page() -> "gr.Blocks":
    """Return the page; Gradio is needed from here on."""
    import gradio as gr  # noqa: PLC0415

    def run(
        dataset: str | None,
        model_id: str,
        second_id: str,
        protocol: str,
        progress: gr.Progress = gr.Progress(track_tqdm=True),  # noqa: B008 - Gradio asks for it
    ) -> str:
        progress(0, desc=f"Loading {model_id.strip() or 'nothing'}")
        return evaluate(dataset, model_id, second_id, protocol)

    samples = [("the sample: 72 invented pairs", str(path)) for path in SAMPLES if path.is_dir()]
    blocks = gr.Blocks(title="Near-Negative Distinction", analytics_enabled=False)
    with blocks:
        gr.Markdown(HEAD)
        with gr.Row():
            model = gr.Textbox("distilgpt2", label="Model", info="Hub id, or a folder")
            second = gr.Textbox("", label="Second model", info="To compare; may be empty")
            protocol = gr.Dropdown(
                PROTOCOLS, label="Protocol", info="Which tokens count; native fits most uses"
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
        with gr.Tab("Two texts of your own"):
            context = gr.Textbox(OWN[0], label="Context", lines=3)
            with gr.Row():
                texts = [
                    gr.Textbox(text, label=label, lines=2, min_width=280)
                    for label, text in zip(
                        ("First candidate", "Second candidate"), OWN[1:], strict=True
                    )
                ]
            weighing = gr.Button("Which is likelier?", variant="primary")
            weighed = gr.HTML(label="Likelier", apply_default_css=False)
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
