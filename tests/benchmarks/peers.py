"""The contestants, each through its public API.

A contestant is made outside the clock from a model and its tokenizer, and then answers requests.
All get the same model and texts, a space between context and candidate, and 16 requests at a time
where they ask for a batch size.

- `nnd`: one call of the engine with all requests.
- `lm-eval`: one call with all requests; decoder-only models compute identical requests once
  (`logits_cache`, its default). `lm-eval ungrouped` switches that off.
- `minicons`: `conditional_score` of 16 requests after the other; a list is its batch.
- `one at a time`: a plain forward pass per request. `float64` is the same in that precision: the
  numbers all others are held against.

Conventions differ, the work by two tokens a request at most: lm-eval and minicons score no end
token of encoder-decoders, and minicons gives the encoder no special tokens.
"""

# ruff: noqa: PLC0415 - a process imports one peer at most: imports count in its memory

from collections.abc import Callable, Sequence
from typing import Any

import torch
from bench_models import Request
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model

Contestant = Callable[[Sequence[Request]], list[float]]
"""Gives each request its mean log-likelihood per token; lm-eval gives sums."""

NND, EXACT = "nnd", "float64"

BATCH = 16


def _nnd(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Contestant:
    engine = Engine(wrap_model(model, tokenizer, name="benchmark"))
    return lambda requests: engine(requests).log_likelihood.tolist()


def _lm_eval(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, grouped: bool = True
) -> Contestant:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(
        pretrained=model,
        tokenizer=tokenizer,
        backend="seq2seq" if model.config.is_encoder_decoder else "causal",
        batch_size=BATCH,
        device=str(model.device),
        logits_cache=grouped,
    )

    def score(requests: Sequence[Request]) -> list[float]:
        instances = [
            Instance("loglikelihood", {}, (context, f" {candidate}"), number)
            for number, (context, candidate) in enumerate(requests)
        ]
        return [total for total, _ in harness.loglikelihood(instances, disable_tqdm=True)]

    return score


def _lm_eval_ungrouped(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Contestant:
    return _lm_eval(model, tokenizer, grouped=False)


def _minicons(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Contestant:
    from minicons.scorer import IncrementalLMScorer, Seq2SeqScorer

    kind: Any = Seq2SeqScorer if model.config.is_encoder_decoder else IncrementalLMScorer
    scorer = kind(model, device="cpu", tokenizer=tokenizer)

    def score(requests: Sequence[Request]) -> list[float]:
        values: list[float] = []
        for start in range(0, len(requests), BATCH):
            contexts, candidates = zip(*requests[start : start + BATCH], strict=True)
            values += scorer.conditional_score(list(contexts), list(candidates))
        return values

    return score


def _one_at_a_time(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Contestant:
    score = _encoder_decoder_mean if model.config.is_encoder_decoder else _decoder_mean

    @torch.inference_mode()
    def scores(requests: Sequence[Request]) -> list[float]:
        return [score(model, tokenizer, *request) for request in requests]

    return scores


def _float64(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Contestant:
    return _one_at_a_time(model.double(), tokenizer)


def _decoder_mean(model: Any, tokenizer: Any, context: str, candidate: str) -> float:
    """Mean over the candidate's tokens, a separator that is a token of its own included."""
    before = tokenizer(context).input_ids
    targets = tokenizer(f" {candidate}").input_ids
    logits = model(torch.tensor([before + targets])).logits[0, len(before) - 1 : -1]
    return _mean(logits, targets)


def _encoder_decoder_mean(model: Any, tokenizer: Any, context: str, candidate: str) -> float:
    """Mean over the candidate's tokens and the end token; BART's start token is fed, not scored."""
    labels = tokenizer(text_target=candidate).input_ids
    fed = [model.config.decoder_start_token_id, *labels[:-1]]
    context_ids = torch.tensor([tokenizer(context).input_ids])
    logits = model(context_ids, decoder_input_ids=torch.tensor([fed])).logits[0]
    return _mean(logits[1:], labels[1:])


def _mean(logits: torch.Tensor, targets: Sequence[int]) -> float:
    chosen = logits.log_softmax(-1).gather(1, torch.tensor(targets).unsqueeze(1))
    return float(chosen.mean())


CONTESTANTS: dict[str, Callable[[PreTrainedModel, PreTrainedTokenizerBase], Contestant]] = {
    NND: _nnd,
    "lm-eval": _lm_eval,
    "lm-eval ungrouped": _lm_eval_ungrouped,
    "minicons": _minicons,
    "one at a time": _one_at_a_time,
    EXACT: _float64,
}
