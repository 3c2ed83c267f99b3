"""Human scores are those that papers print, or that were counted apart from the same files.

They are listed in ../shared/facts/sources.md, "Human quality per model".
"""

from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from support.recounts.counted_again import converted


class Published(NamedTuple):
    """Scores of systems; ours are multiplied by `times`, and rounded."""

    source: str
    aspect: str
    category: str
    scores: dict[str, float]
    digits: int
    times: float = 1
    variant: str | None = None

    @property
    def id(self) -> str:
        return f"{self.source}-{self.aspect}-{self.category}"


# Fabbri et al. 2021, expert ratings: LEAD-3, Pointer Generator, T5, GPT-2, BART, Pegasus.
SUMMEVAL = {
    "coherence": {"M0": 4.16, "M8": 3.29, "M17": 4.00, "M20": 3.63, "M22": 4.18, "M23": 4.16},
    "consistency": {"M0": 4.98, "M8": 4.65, "M17": 4.93, "M20": 3.40, "M22": 4.94, "M23": 4.91},
    "fluency": {"M0": 4.94, "M8": 4.79, "M17": 4.93, "M20": 3.97, "M22": 4.90, "M23": 4.88},
    "relevance": {"M0": 4.14, "M8": 3.55, "M17": 4.23, "M20": 3.30, "M22": 4.25, "M23": 4.26},
}
# Accepted, disfluent, off target, wrong context: per cent of the system's 452 questions.
QUIZ_DESIGN = {
    "dgpt2_sup": (33.4, 14.4, 29.9, 22.3),
    "gpt2b_sup": (40.9, 12.8, 22.3, 23.9),
    "gpt2m_sup": (51.3, 13.1, 14.2, 21.5),
    "bartb_sup": (52.0, 12.4, 13.1, 22.6),
    "bartl_sup": (58.4, 12.2, 11.3, 18.1),
    "prophetnet": (53.5, 21.0, 9.5, 15.9),
    "mixqg": (68.4, 9.7, 5.8, 16.2),
}
CREDITS = {
    "Macaw-11B": 74.7,
    "Macaw-answer-11B": 76.1,
    "GPT3-davinci": 65.6,
    "Jurassic-1-jumbo": 64.8,
    "T5-XXL-SSM-NQ": 57.5,
}
# Means of the paper, in its order.
CONFIT = {
    "BART-Cons": 7.25,
    "T5-Cons": 6.92,
    "Pegasus-Cons": 6.77,
    "Pegasus-Baseline": 6.26,
    "BART-Baseline": 5.54,
    "T5-Baseline": 5.42,
}
# Sums of net votes over 100 articles each.
GOYAL = {
    "cnn": {"gpt3": 113, "brio": 29, "t0": -142},
    "bbc": {"gpt3": 95, "t0": -13, "brio": -82},
}

PUBLISHED = [
    *(Published("summeval", name, "overall", scores, 2) for name, scores in SUMMEVAL.items()),
    *(
        Published(
            "quiz_design",
            "question",
            category,
            # Of an error the score is the share without it.
            {
                system: shares[place] if place == 0 else 100 - shares[place]
                for system, shares in QUIZ_DESIGN.items()
            },
            1,
            times=100,
        )
        for place, category in enumerate(("overall", "disfluent", "off_target", "wrong_context"))
    ),
    Published("challenge300", "correctness", "overall", CREDITS, 1, times=100),
    Published("confit_samsum", "quality", "overall", CONFIT, 2, variant="gap"),
    *(
        Published("goyal_gpt3_news", "preference", split, sums, 0, times=100)
        for split, sums in GOYAL.items()
    ),
]


@pytest.mark.parametrize("published", PUBLISHED, ids=[one.id for one in PUBLISHED])
def test_human_scores(published: Published, nnd_data: Path) -> None:
    origin = nnd_data / published.source
    conversion = converted(published.source, origin, variant=published.variant)
    rows = conversion.human_scores.filter(aspect=published.aspect, category=published.category)
    found = {
        system: round(published.times * score, published.digits)
        for system, score in rows.select("system", "score").iter_rows()
    }

    assert {name: found[name] for name in published.scores} == pytest.approx(published.scores)


def test_mean_factuality(nnd_data: Path) -> None:
    # Of FRANK's test split; human scores are of both splits.
    annotations = converted("frank", nnd_data / "frank", set_name="factuality").annotations
    means = annotations.filter(split="test").group_by("system").agg(pl.col("score").mean())

    assert {system: round(score, 3) for system, score in means.iter_rows()} == {
        "bart": 0.943,
        "bert_sum": 0.900,
        "bus": 0.711,
        "pgn": 0.896,
        "s2s": 0.486,
    }
