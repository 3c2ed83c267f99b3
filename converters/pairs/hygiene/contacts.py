"""Finding and redacting e-mail and IP addresses in texts.

Users switch off patterns with false alarms, so these find only addresses and what reads exactly
like one. In the real files of all built-in sources they find 13 addresses (in ten documents of
goyal_gpt3_news, one of frank and a candidate of frank), without false alarms; the closest cases
are quoted below.

- E-mail: name@host.tld, the tld of two letters or more, in any script. `Twitter @hbriggs.` has no
  name, `location@2.` (simplification's named entities) no host with a tld.
- IPv4: four numbers from 0 to 255 without leading zeros. Not part of a longer number or word: a
  version (`v1.2.3.4`, `1.2.3.4-rc1`), a longer section number (`1.2.3.4.5`) or a date is none.
  Where a word before it says so (version, release, section, chapter, figure, …) it is none either;
  any other `1.2.3.4` may be an address, and counts as one.
- IPv6: what Python's `ipaddress` takes for one, with a first group of four digits, as those that
  are assigned to people have. Times (`10:30:15`), MAC addresses and `std::vector` are none.

Addresses that are spelled out ("name at host dot com") and telephone numbers are not looked for.
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import polars as pl

from nnd.converters.pairs.hygiene.hygiene import PARTS, change_texts
from nnd.schemas import CONTEXT

Kind = Literal["email", "ip"]

_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]*[\w%+-]@(?:[\w-]+\.)+[^\W\d_]{2,}(?![\w-])")
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = re.compile(
    rf"(?<![\w.])(?<![A-Za-z]-){_OCTET}(?:\.{_OCTET}){{3}}(?!\w|\.\w|-[A-Za-z])", re.ASCII
)
_IPV6 = re.compile(
    r"(?<![\w:.])[0-9a-f]{4}:[0-9a-f:]*:[0-9a-f:]*(?![\w:])", re.ASCII | re.IGNORECASE
)
_NO_ADDRESS_AFTER = re.compile(
    r"\b(?:v|ver|version|release|build|firmware|sections?|sec|chapter|clause|paragraph|figure|fig|"
    r"appendix)\b\.?\s*$|§\s*$",
    re.IGNORECASE,
)
_MAY_HOLD_ONE = r"@|\d\.\d+\.\d+\.\d|[0-9A-Fa-f]{4}:[0-9A-Fa-f:]*:"
"""Matches every text with an address; for a quick search of many texts."""


class Contact(NamedTuple):
    """An address in a text.

    Attributes:
        row: The first row of annotations.parquet with the text; or an index of the manifest's list.
        column: Column of the text, `inputs/NAME` for a part of the context, `inputs` for the name
            of a part, likewise `metadata`; or the manifest's list.
        kind: email or ip.
        quote: The address, with most of it hidden.
    """

    row: int
    column: str
    kind: Kind
    quote: str


def find_contacts(rows: pl.DataFrame) -> Iterator[Contact]:
    """Yield every address in a frame: in texts of any column, in inputs and in metadata.

    A text of many rows is yielded once per column, with the first row. Pairs and human scores have
    no texts that annotations lack; for the manifest use `find_in_manifest`.
    """
    for column, texts in _text_columns(rows):
        for row, text in _suspects(texts):
            for kind, found in _addresses(text):
                yield Contact(row, column, kind, _masked(found))


def find_in_manifest(manifest: Mapping[str, Any]) -> Iterator[Contact]:
    """Yield the addresses that a manifest quotes, in oddities and names of files.

    Texts of source.yaml are not searched: they were written for readers.
    """
    quoted = {
        "oddities": manifest["oddities"],
        "files": [each["name"] for each in manifest["files"]],
    }
    for part, texts in quoted.items():
        for row, text in enumerate(texts):
            for kind, found in _addresses(text):
                yield Contact(row, f"manifest.json/{part}", kind, _masked(found))


def redact_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with `<email>` and `<ip>` in place of what `find_in_manifest` finds."""
    files = [{**each, "name": redact(each["name"])} for each in manifest["files"]]
    return {**manifest, "oddities": [*map(redact, manifest["oddities"])], "files": files}


def redact_contacts(rows: pl.DataFrame) -> tuple[pl.DataFrame, dict[Kind, int]]:
    """Return rows with `<email>` and `<ip>` in place of addresses, and how many there were.

    Contexts, inputs, metadata, candidates and references are changed; ids and labels, which others
    refer to, are not. The addresses of each kind are counted in distinct texts: a context counts
    once, even if many rows have it or a part of it has the same text.
    """
    changed = change_texts(rows, redact)
    distinct = {
        text
        for column, texts in _text_columns(rows)
        if column.split("/")[0] in {"context", "candidate", "reference", *PARTS}
        for _, text in _suspects(texts)
    }
    counts: dict[Kind, int] = {"email": 0, "ip": 0}
    for text in distinct:
        for kind, _ in _addresses(text):
            counts[kind] += 1
    return changed, counts


def redact(text: str) -> str:
    """Return a text with `<email>` and `<ip>` in place of addresses."""
    text = _EMAIL.sub("<email>", text)
    for pattern in (_IPV4, _IPV6):
        text = pattern.sub(lambda found: "<ip>" if _is_ip(found) else found[0], text)
    return text


def _addresses(text: str) -> Iterator[tuple[Kind, str]]:
    for found in _EMAIL.finditer(text):
        yield "email", found[0]
    rest = _EMAIL.sub("<email>", text)  # 8.8.8.8@x.org is one address, as `redact` has it
    for pattern in (_IPV4, _IPV6):
        for found in pattern.finditer(rest):
            if _is_ip(found):
                yield "ip", found[0]


def _is_ip(found: re.Match[str]) -> bool:
    before = found.string[max(0, found.start() - 20) : found.start()]
    if "." in found[0]:
        return not _NO_ADDRESS_AFTER.search(before)
    try:
        ipaddress.IPv6Address(found[0])
    except ValueError:
        return False
    return True


def _masked(found: str) -> str:
    """Return an address with most of it hidden: enough to find it, too little to use it."""
    name, at, host = found.partition("@")
    return f"{name[0]}…@{host[0]}…" if at else f"{found[0]}…"


def _text_columns(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield name, rows and values of every text column and every part of contexts."""
    numbered = frame.with_row_index("row")
    for column, kind in frame.schema.items():
        if kind == pl.String:
            yield column, numbered.select("row", value=column)
    for column in (name for name in PARTS if name in frame.columns):
        parts = numbered.select("row", *CONTEXT, column)
        parts = parts.unique(CONTEXT, keep="first", maintain_order=True)
        parts = parts.explode(column).drop_nulls(column).unnest(column)
        yield column, parts.select("row", value="key")
        for (name,), rows in parts.group_by("key", maintain_order=True):
            yield f"{column}/{name}", rows


def _suspects(texts: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """Yield the distinct texts that may hold an address, with their first rows."""
    suspects = texts.filter(pl.col("value").str.contains(_MAY_HOLD_ONE)).sort("row")
    distinct = suspects.unique("value", keep="first", maintain_order=True)
    yield from distinct.select("row", "value").iter_rows()
