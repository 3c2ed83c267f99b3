"""Addresses that sources may name: none that means more than itself where it is shown."""

import re
from typing import Any

import pytest

from nnd.schemas import URL, check_rows, load_schema

GOOD = (
    "https://github.com/salesforce/QGen",
    "http://localhost:8000/a_b~c?d=%20&e=f#g",
    "https://example.org",
    "https://example.org?q=1",
    "https://xn--bcher-kva.example/@user/x:y,z+1",
)
BAD = (
    "https://x/><img src=x>",
    "https://x/ y",
    'https://x/"y',
    "https://x/'y",
    "https://x/(y)",
    "https://x/[y]",
    "https://x/`y`",
    "https://x/\\y",
    "https://x/&lt;y",
    "https://user:password@example.org/",
    "https://user@example.org/",
    "https://example.org\n",
    "https://example.org/\u202e",
    "https://",
    "https:///x",
    "https://example..org",
    "javascript:alert(1)",
    "//example.org",
)


def problems(field: str, url: str) -> list[str]:
    file = {"name": "a", "url": None, "sha256": None, "bytes": None}
    row: dict[str, Any] = (
        {"homepage": url} if field == "homepage" else {"files": [file | {"url": url}]}
    )
    paths = ("homepage", "files/0/url")
    return [one.path for one in check_rows("source", [row]) if one.path in paths]


@pytest.mark.parametrize("field", ["homepage", "files/0/url"])
def test_addresses_of_a_source(field: str) -> None:
    assert [url for url in GOOD if problems(field, url)] == []
    assert [url for url in BAD if problems(field, url) != [field]] == []


def test_the_schema_has_the_pattern_of_cards() -> None:
    properties = load_schema("source")["properties"]

    for field in (properties["homepage"], properties["files"]["items"]["properties"]["url"]):
        assert field["pattern"] == rf"^{URL}(?![\s\S])"
    assert [url for url in GOOD if not re.fullmatch(URL, url)] == []
