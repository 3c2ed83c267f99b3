"""What others counted in the real files, by the id of a reading or the name of a source."""

WITH_EQUAL_TEXTS = {
    "quiz_design": 2_686,
    "challenge300": 807,
    "challenge300-challenge300-outputs.58169e8.tsv": 809,
    "challenge300-challenge300-outputs.865708d.tsv": 809,
    "confit_samsum": 524,
    "confit_samsum-gap": 1_119,
    "summeval": 4_243 + 2_396 + 2_781 + 3_750,
    "dialsummeval": 3_994 + 2_193 + 4_292 + 1_769,
    "frank-factuality": 832 + 336,
    "frank-typed": 824 + 138 + 338 + 63,
    "goyal_gpt3_news": 208 + 205,
    "goyal_gpt3_news-loose": 208 + 205,
    "goyal_gpt3_news-every_name": 212 + 203,
    "simplification": 9_860 + 11_177 + 6_432 + 5_843,
    "simplification-da": 287 + 335 + 318,
    "wmt_qe_2022": 23_264,
    "wmt_mqm-ted-ende": 20_278,
    "wmt_mqm-ted-zhen": 28_051,
    "wmt_mqm-ted-ende-severity": 16_360 + 2_107,
    "wmt_mqm-ted-zhen-severity": 22_417 + 1_919,
    "wmt_mqm-ted-ende-severity_order": 19_987 + 2_604,
    "wmt_mqm-ted-zhen-severity_order": 26_490 + 2_148,
    "wmt23_mqm_sxs-ende": 4_155 + 27,
    "wmt23_mqm_sxs-zhen": 14_585 + 146,
    "bump": 889,
    "summedits": 52_323,
    "llmbar": 419,
    "demetr": 30_311,
    "fib": 3_122 + 1_633 + 2,
    "fib-edits": 449,
    "qgeval": 8_711,
    "qgeval-majority": 14_808,
    "qgeval-squad": 3_093,
    "qgeval-squad-majority": 6_078,
    "qgeval-hotpotqa": 5_618,
    "qgeval-hotpotqa-majority": 8_730,
    "d2t_eval": 983,
    "faithbench": 1_225,
    "faithbench-binary": 1_709,
}
"""Pairs, those of equal texts included, as ../shared/facts (sources.md, fresh.md) counts them."""

DISTINCT = {
    "bump": 889,
    "summedits": 30_779,
    "wmt23_mqm_sxs-ende": 2_941,
    "wmt23_mqm_sxs-zhen": 11_594,
    "llmbar": 419,
    "demetr": 30_311,
    "d2t_eval": 563,
    "faithbench": 794,
    "faithbench-binary": 1_131,
}
"""Distinct (split, context, group, high, low) of different texts, as the issues count them."""

REFERENCES = {
    "summeval": 1_100,
    "frank": 250,
    "confit_samsum": 100,
    "wmt_qe_2022": 527,
    "demetr": 1_003,
    "qgeval": 200,
    "qgeval/squad": 100,
    "qgeval/hotpotqa": 100,
}
"""References of each source or set that has some."""
