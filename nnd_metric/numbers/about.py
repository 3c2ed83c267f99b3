"""What `evaluate` shows about the metric: a description, the citation, its inputs and outputs."""

DESCRIPTION = """\
Near-Negative Distinction (NND) reuses human evaluations of generated text to test other language
models. Humans found one of two candidates for a context better; a model passes if it gives that
candidate the higher log-likelihood. The metric is the share of pairs that the model passes, overall
and per error category; for several models, also how far these pass rates agree with human scores.
"""

PAPER = "https://arxiv.org/abs/2205.06871"

CITATION = """\
@inproceedings{laban-etal-2022-near,
    title = "Near-Negative Distinction: Giving a Second Life to Human Evaluation Datasets",
    author = "Laban, Philippe and Wu, Chien-Sheng and Liu, Wenhao and Xiong, Caiming",
    booktitle = "Proceedings of the 2022 Conference on Empirical Methods in Natural Language
        Processing",
    year = "2022",
    note = "arXiv:2205.06871"
}
"""

INPUTS = """
Give the pairs as `dataset`: a folder that `nnd convert` wrote, a Parquet file, a datasets.Dataset,
or ORG/name[@revision] on the Hub. Or give them as columns, each a list of one length:
    context, candidate_high, candidate_low: texts; humans found candidate_high the better one.
    error_category: what is wrong with candidate_low (optional).
    aspect, category, inputs and the other columns of converted pairs (optional).
Or gather them with `add` and `add_batch`, which take the first four columns.

Give one model as `model_id` (Hub id or folder) or as `model` and `tokenizer`, or several as a list
of model_id. Further arguments: compute's own documentation.

Returns, for one model, a dict of plain Python values: pass_rate, n, passes, ties, unscored,
undecidable, unknown, unknown_context, truncated, interval, interval_method, interval_reason,
contexts, clusters, cluster, context_interval, languages, wilson,
baselines, length_matched, equal_length, n_pairs, by_error_category, by_aspect, by_category,
by_error_group, model, version, protocol, template, instruction, chat, request, dtype, device,
notes, n_close, n_crossing, engine, signature, agreement, agreement_reason.
For a list of models: results (such a dict for each model, in their order), agreement,
agreement_reason.

Examples:
    >>> metric = evaluate.load("nnd")
    >>> metric.compute(dataset="quiz_design-nnd", model_id="gpt2")["pass_rate"]
    >>> metric.compute(dataset="quiz_design-nnd", model_id=["Salesforce/mixqg-large",
    ...             "microsoft/prophetnet-large-uncased-squad-qg"])["agreement"]
    >>> metric.compute(dataset="quiz_design-nnd", model_id=["my-org/quiz-gpt2", "my-org/quiz-bart"],
    ...             systems={"my-org/quiz-gpt2": "gpt2b_sup", "my-org/quiz-bart": "bartb_sup"})
    >>> metric.compute(context=["The cat sat on the"], candidate_high=["mat."],
    ...             candidate_low=["pqr."], model=model, tokenizer=tokenizer)
"""
