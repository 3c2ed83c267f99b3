"""E-mail and IP addresses are found where they are, and nowhere else, and replaced."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, strategies as st
from support.recounts.counted_again import converted

from nnd.converters.pairs.hygiene.contacts import Contact, find_contacts, redact, redact_contacts

Frame = Callable[..., pl.DataFrame]


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("write to a.b+c@bbc.co.uk.", "write to <email>."),
        ("<jo@x.org>, (al@y.net)", "<<email>>, (<email>)"),
        ("mailto:jo_1@sub-domain.example.museum!", "mailto:<email>!"),
        ("José@exämple.de; иван@пример.рф", "<email>; <email>"),
        ("one@a.com two@b.com", "<email> <email>"),
        ("jo@localhost", "jo@localhost"),
        ("Twitter @hbriggs.", "Twitter @hbriggs."),
        ("location@2. It is location@3.", "location@2. It is location@3."),
        ("five apples @ 2.50 each", "five apples @ 2.50 each"),
        ("user@host.c", "user@host.c"),
        ("from 192.168.0.1, port 80", "from <ip>, port 80"),
        ("http://8.8.8.8:53/x", "http://<ip>:53/x"),
        ("It was 203.0.113.7.", "It was <ip>."),
        ("10.0.0.1-10.0.0.9", "<ip>-<ip>"),
        ("10.0.0.0/8", "<ip>/8"),
        ("255.255.255.255 and 0.0.0.0", "<ip> and <ip>"),
        # One of the numbers is none of an address.
        ("256.1.1.1 1.2.3.999 01.2.3.4", "256.1.1.1 1.2.3.999 01.2.3.4"),
        # Parts of something longer.
        ("1.2.3.4.5 and v1.2.3.4 and 1.2.3.4-rc1", "1.2.3.4.5 and v1.2.3.4 and 1.2.3.4-rc1"),
        ("nnd-1.2.3.4.tar.gz", "nnd-1.2.3.4.tar.gz"),
        # Named for what they are.
        ("version 1.2.3.4, Section 4.3.2.1", "version 1.2.3.4, Section 4.3.2.1"),
        ("see Fig. 1.2.3.4 and § 1.2.3.4", "see Fig. 1.2.3.4 and § 1.2.3.4"),
        # Nothing says that this is a section: it may be an address.
        ("1.2.3.4 Results", "<ip> Results"),
        ("there is no 10.0.0.1", "there is no <ip>"),
        ("on 12.11.2010 at 10.30", "on 12.11.2010 at 10.30"),
        ("2001:db8::8a2e:370:7334 said", "<ip> said"),
        ("2001:0db8:85a3:0000:0000:8a2e:0370:7334.", "<ip>."),
        ("::ffff:192.0.2.1", "::ffff:<ip>"),
        ("at 10:30:15, 00:1a:2b:3c:4d:5e", "at 10:30:15, 00:1a:2b:3c:4d:5e"),
        ("std::vector, dead::beef::1, Clint::", "std::vector, dead::beef::1, Clint::"),
        ("2001:10:30", "2001:10:30"),
    ],
)
def test_addresses_and_what_looks_like_one(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@given(st.text(alphabet="a1.@:- /v<>é\n", max_size=60))
def test_what_was_redacted_is_not_found_again(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.from_regex(r"[a-z0-9]{1,8}@[a-z]{1,8}\.[a-z]{2,4}", fullmatch=True))
def test_no_letter_of_a_plain_address_is_left(address: str) -> None:
    assert redact(f"({address})") == "(<email>)"


@pytest.mark.parametrize(
    "text", ["a" * 10**5 + "@", "a@" + "b." * 10**5, "1." * 10**5, "1:" * 10**5]
)
def test_no_text_takes_long(text: str) -> None:
    assert redact(text) == text


def parts(text: str) -> list[dict[str, str]]:
    return [{"key": "question", "value": text}]


ONE, OTHER = ("a", "good"), ("b", "wrong")
ASKED = "Ask jo@x.org!"


@pytest.mark.parametrize(
    ("marks", "common", "found"),
    [
        # It is named once, by its first row.
        (
            (ONE, OTHER),
            {"context": ASKED, "inputs": parts(ASKED)},
            [(0, "context", "email", "j…@x…"), (0, "inputs/question", "email", "j…@x…")],
        ),
        (
            (ONE, ("1.2.3.4", "x@y.org")),
            {},
            [
                (1, "candidate_id", "ip", "1…"),
                (1, "candidate", "ip", "1…"),
                (1, "label", "email", "x…@y…"),
            ],
        ),
        (
            (ONE,),
            {"inputs": [{"key": "asked by jo@x.org", "value": "why"}]},
            [(0, "inputs", "email", "j…@x…")],
        ),
    ],
)
def test_every_text_is_looked_at(
    annotated: Frame, marks: tuple[Any, ...], common: dict[str, Any], found: list[tuple[Any, ...]]
) -> None:
    assert [*find_contacts(annotated("label", *marks, **common))] == [
        Contact(*each) for each in found
    ]


def test_metadata_is_looked_at_and_redacted(annotated: Frame) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"), metadata=parts("by jo@x.org"))

    redacted, counts = redact_contacts(frame)

    assert list(find_contacts(frame)) == [Contact(0, "metadata/question", "email", "j…@x…")]
    assert redacted["metadata"].to_list() == [parts("by <email>")] * 2
    assert counts == {"email": 1, "ip": 0}


def test_an_address_within_an_address_counts_once(annotated: Frame) -> None:
    redacted, counts = redact_contacts(annotated("label", ("a", "good"), candidate="8.8.8.8@x.org"))

    assert redacted["candidate"].to_list() == ["<email>"]
    assert counts == {"email": 1, "ip": 0}


def test_what_is_quoted_does_not_give_the_address_away(annotated: Frame) -> None:
    frame = annotated("label", ("a", "good"), candidate="secret.name@somewhere.example")

    (found,) = find_contacts(frame)

    assert "secret" not in str(found)
    assert "somewhere" not in str(found)


def test_redacting_counts_occurrences_in_distinct_texts(annotated: Frame) -> None:
    # The context is in two rows and reads like its part: one text, two addresses. The first
    # candidate has an IP address and an e-mail address; the second is as it was.
    text = "Ask jo@x.org or al@x.org!"
    frame = annotated("label", ("a", "good"), ("b", "wrong"), context=text, inputs=parts(text))
    candidates = pl.Series("candidate", ["Ping 8.8.8.8 or jo@x.org", "text of b"])

    redacted, counts = redact_contacts(frame.with_columns(candidates))

    assert counts == {"email": 3, "ip": 1}
    assert redacted["context"].to_list() == ["Ask <email> or <email>!"] * 2
    assert redacted["inputs"].to_list() == [parts("Ask <email> or <email>!")] * 2
    assert redacted["candidate"].to_list() == ["Ping <ip> or <email>", "text of b"]
    unchanged = pl.all().exclude("context", "inputs", "candidate")
    assert redacted.select(unchanged).equals(frame.select(unchanged))


@pytest.mark.parametrize(
    ("source", "documents", "counts"),
    [
        # The issue: ten BBC documents (one has two addresses), and one document of FRANK, whose
        # address a candidate repeats.
        ("goyal_gpt3_news", 10, {"email": 11, "ip": 0}),
        ("frank", 1, {"email": 2, "ip": 0}),
        ("quiz_design", 0, {"email": 0, "ip": 0}),
        ("challenge300", 0, {"email": 0, "ip": 0}),
        ("confit_samsum", 0, {"email": 0, "ip": 0}),
        # Its named entities look a little like addresses: location@2.
        ("simplification", 0, {"email": 0, "ip": 0}),
    ],
)
def test_real_files(nnd_data: Path, source: str, documents: int, counts: dict[str, Any]) -> None:
    set_name = {"simplification": "da", "frank": "typed"}.get(source)
    annotations = converted(source, nnd_data / source, set_name=set_name).annotations

    found = list(find_contacts(annotations))
    redacted, counted = redact_contacts(annotations)

    assert len({annotations["context_id"][one.row] for one in found}) == documents
    assert counted == counts
    assert list(find_contacts(redacted)) == []
