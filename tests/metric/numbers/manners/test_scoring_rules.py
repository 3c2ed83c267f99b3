"""Which runs were scored by one rule."""

import pytest
from support.refusals import refusal

from nnd.metric.numbers.manners.manner import check_manners, manner_of, scoring_rule


def decoder_only(version: str, protocol: str = "native") -> str:
    separator = "" if protocol == "laban2022" else "|sep:' '"
    return f"nnd|v:{version}|model:m@1|data:d@2|protocol:{protocol}|n:4{separator}|bos:no"


def check_rules(signatures: dict[str, str | None]) -> None:
    check_manners([(None, m, manner_of({"signature": text})) for m, text in signatures.items()])


@pytest.mark.parametrize(
    ("version", "since"),
    [
        *(("0.1.0", "0.1"), ("0.1.7", "0.1"), ("0.2.0", "0.2"), ("0.2.0rc1", "0.2")),
        *(("0.3.1", "0.2"), ("0.10.0", "0.2"), ("1.0.0", "0.2")),
    ],
)
@pytest.mark.parametrize("protocol", ["native", "sum", "bytes"])
def test_versions_of_one_rule(version: str, since: str, protocol: str) -> None:
    rule = scoring_rule(decoder_only(version, protocol))
    assert rule is not None
    assert rule.startswith(f"{since}: ")


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_what_no_version_changed_has_no_rule(version: str) -> None:
    assert scoring_rule(decoder_only(version, "laban2022")) is None
    encoder_decoder = f"nnd|v:{version}|model:m@1|data:d@2|protocol:native|template:sep:|n:4"
    assert scoring_rule(encoder_decoder) is None
    assert scoring_rule(None) is None


def test_models_of_one_rule_are_taken_together() -> None:
    encoder_decoder = "nnd|v:0.2.0|model:m@1|data:d@2|protocol:native|n:4"
    check_rules({"a": decoder_only("0.1.0"), "b": decoder_only("0.1.9"), "c": encoder_decoder})
    check_rules({"a": decoder_only("0.2.0"), "b": decoder_only("0.3.0"), "c": None})


def test_models_of_different_rules_are_named() -> None:
    signatures = {
        "a": decoder_only("0.2.0"),
        "b": decoder_only("0.1.0"),
        "c": decoder_only("0.1.0"),
    }
    with refusal("run.different-rules") as caught:
        check_rules(signatures)
    named = ("b, c ", "0.1: ", "0.2: ")
    places = [caught.value.what.index(each) for each in named]
    assert places == sorted(places)
