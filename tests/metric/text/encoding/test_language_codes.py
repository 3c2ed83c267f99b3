"""Tags of data and codes of tokenizers."""

import pytest
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as _M2M
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

from nnd.metric.text.encoding.language_codes import match_codes

M2M = _M2M["m2m100"]


@pytest.mark.parametrize(
    ("tag", "nllb", "mbart50", "m2m"),
    [
        ("en", "eng_Latn", "en_XX", "en"),
        ("en-US", "eng_Latn", "en_XX", "en"),
        ("de", "deu_Latn", "de_DE", "de"),
        ("de-AT", "deu_Latn", "de_DE", "de"),
        ("deu", "deu_Latn", "de_DE", "de"),
        ("deu_Latn", "deu_Latn", "de_DE", "de"),
        ("pt-BR", "por_Latn", "pt_XX", "pt"),
        ("zh", "zho_Hans", "zh_CN", "zh"),
        ("zh-CN", "zho_Hans", "zh_CN", "zh"),
        ("cmn", "zho_Hans", "zh_CN", "zh"),
        ("zh-TW", "zho_Hant", "", "zh"),
        ("zh-Hant-HK", "zho_Hant", "", "zh"),
        ("yue", "yue_Hant", "", ""),
        ("ar", "arb_Arab", "ar_AR", "ar"),
        ("fa", "pes_Arab", "fa_IR", "fa"),
        ("no", "nno_Latn nob_Latn", "", "no"),
        ("nb", "nob_Latn", "", "no"),
        ("sr", "srp_Cyrl", "", "sr"),
        ("sr-Latn", "", "", "sr"),
        ("ku", "ckb_Arab kmr_Latn", "", ""),
        ("fil", "tgl_Latn", "tl_XX", "tl"),
        ("iw", "heb_Hebr", "he_IL", "he"),
        ("mn", "khk_Cyrl", "mn_MN", "mn"),
        ("gsw", "", "", ""),
        ("German", "", "", ""),
    ],
)
def test_a_tag_finds_the_code_of_each_family(tag: str, nllb: str, mbart50: str, m2m: str) -> None:
    found = [" ".join(match_codes(tag, codes)) for codes in (NLLB, MBART50, M2M)]
    assert found == [nllb, mbart50, m2m]


@pytest.mark.parametrize(
    ("tag", "codes", "found"),
    [
        ("pt", "pt pt_br pt_pt", "pt"),
        ("pt-BR", "pt pt_br pt_pt", "pt_br"),
        ("pt-AO", "pt pt_br", "pt"),
        ("pt", "pt_br pt_pt", "pt_br pt_pt"),
        ("sr", "srp_Cyrl srp_Latn", "srp_Cyrl srp_Latn"),
        ("sr-Latn", "srp_Cyrl srp_Latn", "srp_Latn"),
        ("sr", "sr sr_Latn", "sr"),
        ("zh", "<2zh> <2zh_Latn> <2zh_Hant>", "<2zh>"),
        ("zh", ">>cmn<< >>cmn_Hans<< >>cmn_Hant<< >>yue<<", ">>cmn_Hans<<"),
        ("zh-TW", ">>cmn<< >>cmn_Hans<< >>cmn_Hant<<", ">>cmn_Hant<<"),
        ("de", "__deu__ __eng__", "__deu__"),
        ("__java__", "__java__ __en_XX__", "__java__"),
        ("java", "__java__ __en_XX__", "__java__"),
    ],
)
def test_script_and_region_decide_among_codes_of_a_language(
    tag: str, codes: str, found: str
) -> None:
    assert match_codes(tag, codes.split()) == found.split()


def test_every_language_of_m2m_is_found_by_its_own_code_alone() -> None:
    assert [match_codes(code, M2M) for code in M2M] == [[code] for code in M2M]


def test_every_code_of_nllb_is_found_by_its_tag() -> None:
    tags = [code.replace("_", "-") for code in NLLB]
    assert [match_codes(tag, NLLB) for tag in tags] == [[code] for code in NLLB]
