"""References written by an instruction-tuned model, for conversations that have none (ED-FAITH).

    python fake_references.py reddit.jsonl reddit-references.jsonl

Each line of the first file is an object with a `context`. The model summarises it by several
prompts, and the summary with the highest ROUGE-L against the conversation becomes its `reference`:
it strays the least. The second file is what `nnd train --loss mle --data` reads. The environment
variable NND_EXAMPLE_MODEL names another model.
"""

import json
import os
import sys
from pathlib import Path

import torch
from rouge_score.rouge_scorer import RougeScorer
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

MODEL = os.environ.get("NND_EXAMPLE_MODEL", "bigscience/T0_3B")

PROMPTS = (
    "{context}\n\nSummarize the conversation:",
    "What was the following conversation about?\n\n{context}",
    "Write a short summary of this dialogue.\n\n{context}\n\nSummary:",
)
"""The paper does not print its own."""

MOST_TOKENS = 64


def main(conversations: Path, references: Path) -> None:
    """Write the conversations with their references."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = AutoModelForSeq2SeqLM.from_pretrained(MODEL).to(device)
    scorer = RougeScorer(["rougeL"], use_stemmer=True)

    def summarise(context: str) -> str:
        prompts = [prompt.format(context=context) for prompt in PROMPTS]
        inputs = tokenizer(prompts, truncation=True, padding=True, return_tensors="pt").to(device)
        ids = model.generate(
            inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            do_sample=False,
            num_beams=1,
            max_new_tokens=MOST_TOKENS,
        )
        texts = [text.strip() for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]
        return max(texts, key=lambda text: scorer.score(context, text)["rougeL"].fmeasure)

    with torch.inference_mode():
        rows = [json.loads(line) for line in conversations.read_text("utf-8").splitlines()]
        rows = [{**row, "reference": summarise(row["context"])} for row in rows]
    fresh = references.with_name(f".{references.name}.new")  # so that no half of a file is left
    fresh.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    fresh.replace(references)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
