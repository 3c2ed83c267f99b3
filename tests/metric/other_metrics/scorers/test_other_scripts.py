"""Reference metrics of texts in other scripts: cut into words as fits, or without a number."""

import pytest
from sacrebleu.metrics.bleu import BLEU

from nnd.metric.other_metrics.scorers import word_cutting
from nnd.metric.other_metrics.scorers.reference_scorers import bertscore, bleu, chrf, rouge
from nnd.metric.other_metrics.scorers.scorer import Text, overlap, score_texts
from nnd.metric.other_metrics.scorers.unread_texts import (
    describe_english,
    describe_unread,
    reads_none,
)
from nnd.metric.other_metrics.scorers.word_cutting import tokenizer_of

WHY_ROUGE = "rouge-score keeps only the letters a to z and digits of a text"


def text(candidate: str, reference: str, language: str | None = None) -> Text:
    return Text(candidate, "", references=(reference,), language=language)


ZH = text("渡轮因潮水而迟到。", "渡轮因蜜蜂而早到。", "zh")
EN = text("the ferry was late", "the ferry came early today", "en")


@pytest.mark.parametrize(
    ("language", "candidate", "tokenizer"),
    [
        ("zh", "渡轮", "zh"),
        ("zh-Hant-TW", "渡輪", "zh"),
        ("yue", "渡輪", "zh"),
        ("ZH", "渡轮", "zh"),
        ("ja", "東京", "ja-mecab"),
        ("ko-KR", "서울", "ko-mecab"),
        ("th", "จะไป", "char"),
        ("de", "Fähre", "13a"),
        ("en", "渡轮", "13a"),  # what the data says holds
        (None, "渡轮", "zh"),
        ("und", "東京です", "ja-mecab"),
        (None, "서울 시", "ko-mecab"),
        (None, "ភ្នំពេញ", "char"),
        (None, "мир", "13a"),
        (None, "हिन्दी", "13a"),
        (None, "2024", "13a"),
    ],
)
def test_tokenizer_by_language_or_script(
    language: str | None, candidate: str, tokenizer: str
) -> None:
    assert tokenizer_of(Text(candidate, "", language=language)) == tokenizer


def test_bleu_of_mixed_languages_is_that_of_each() -> None:
    scorer = bleu()
    expected = [
        BLEU(effective_order=True, tokenize=name).sentence_score(each.candidate, [*each.references])
        for name, each in (("zh", ZH), ("13a", EN))
    ]
    found = score_texts(scorer, [ZH, EN, ZH]).to_list()
    assert found == [expected[0].score, expected[1].score, expected[0].score]
    assert scorer.made_with is not None
    assert scorer.made_with() == "tokenizer zh (2 texts), 13a (1 texts)"


def test_bleu_of_english_is_as_before() -> None:
    scorer = bleu()
    score_texts(scorer, [EN])
    assert scorer.made_with is not None
    assert scorer.made_with() == ""


def test_chinese_is_not_one_word() -> None:
    near, far = (
        text("渡轮因潮水而早到。", "渡轮因蜜蜂而早到。"),
        text("她打开了窗户。", "渡轮因蜜蜂而早到。"),
    )
    values = score_texts(bleu(), [near, far]).to_list()
    assert values[0] > 30
    assert values[1] < 10


@pytest.mark.parametrize(("language", "extra"), [("ja", "ja"), ("ko", "ko")])
def test_a_missing_tokenizer_is_named_with_the_way_to_install_it(
    monkeypatch: pytest.MonkeyPatch, language: str, extra: str
) -> None:
    monkeypatch.setattr(word_cutting, "find_spec", lambda _: None)
    word_cutting._missing.cache_clear()
    texts = [text("東京", "東京", language), EN]
    assert score_texts(bleu(), texts)[0] is None
    (said,) = describe_unread([bleu()], texts)
    word_cutting._missing.cache_clear()
    assert said.startswith("bleu is not available for 1 of 2 candidates: sacrebleu's tokenizer ")
    assert said.endswith(f"(pip install 'sacrebleu[{extra}]').")


@pytest.mark.parametrize("candidate", ["渡轮", "мир", "हिन्दी", "Αθήνα", "서울", "עיר", "مدينة"])
def test_rouge_has_no_number_for_other_scripts(candidate: str) -> None:
    texts = [text(candidate, candidate)]
    assert score_texts(rouge("rouge1"), texts).to_list() == [None]
    assert reads_none(rouge("rouge1"), texts)
    said = f"rouge1 is not available for these candidates: {WHY_ROUGE}."
    assert [*describe_unread([rouge("rouge1"), chrf()], texts)] == [said]


@pytest.mark.parametrize("candidate", ["Café crème", "Phở Hà Nội", "2024", "", "☃"])
def test_rouge_reads_latin(candidate: str) -> None:
    assert not reads_none(rouge("rouge1"), [text(candidate, "the café")])


def test_rouge_by_the_language_of_the_row() -> None:
    """A name in Latin letters among Chinese texts has no number; a Greek letter does no harm."""
    texts = [
        ZH,
        ZH,
        text("GPT-4", "GPT-4", "zh"),
        EN,
        EN,
        text("\N{GREEK SMALL LETTER ALPHA}", "one", "en"),
    ]
    found = score_texts(rouge("rouge1"), texts)
    assert found.is_null().to_list() == [True, True, True, False, False, False]


def test_without_a_language_each_text_is_looked_at() -> None:
    texts = [each._replace(language=None) for each in (ZH, EN)]
    assert score_texts(rouge("rouge1"), texts).is_null().to_list() == [True, False]


def test_overlap_by_characters() -> None:
    found = overlap([Text("渡轮早", "渡轮迟到"), Text("the dog", "The cat"), Text("จะ", "ไป")])
    assert found == [2 / 3, 1 / 2, 0]


@pytest.mark.parametrize(
    ("texts", "n"),
    [
        ([EN], 0),
        ([ZH, EN], 1),
        ([ZH._replace(language=None)], 1),
        ([EN._replace(language="de")], 1),
    ],
)
def test_the_english_default_of_bertscore_is_told_of(texts: list[Text], n: int) -> None:
    said = [*describe_english([bertscore(), bleu()], texts)]
    assert len(said) == bool(n)
    assert all(f"{n} of {len(texts)} candidates are in other languages" in each for each in said)
    assert [*describe_english([bertscore("xlm-roberta-large")], texts)] == []
