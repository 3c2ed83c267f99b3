"""The metric's card says what the metric takes and gives, and its page says where that is."""

import ast
import inspect
import re
from html.parser import HTMLParser

from nnd.cards.metric import metric_card, metric_page
from nnd.metric.space.metric import NND
from nnd.metric.text.encoding.protocols import PROTOCOLS
from nnd.schemas import load_schema

CARD = metric_card("org/nnd", version="9.8.7")
INPUTS, OUTPUTS = (
    CARD.partition(f"\n## {name}\n")[2].partition("\n## ")[0] for name in ("Inputs", "Outputs")
)
PROTOCOL_ROWS = CARD.partition("| protocol | scored | N |")[2].partition("\n\n")[0]


def codes(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def test_every_argument_of_compute_is_described_with_its_default() -> None:
    parameters = inspect.signature(NND.compute).parameters
    known = {name for name in parameters if name not in ("self", "columns")}
    assert known <= codes(INPUTS)
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", INPUTS, re.MULTILINE))
    assert set(rows) == known - {"dataset", "model_id", "model", "tokenizer"}
    for name, shown in rows.items():
        # Where a default means "you decide", the card says by what instead of None.
        default = parameters[name].default
        assert shown == f"`{default!r}`".replace("'", '"') or default is None


def test_every_key_of_a_result_is_described_and_no_other() -> None:
    known = set(load_schema("result")["$defs"]["EvaluatedModel"]["properties"])
    described = set().union(
        *(codes(row.split("|")[1]) for row in OUTPUTS.splitlines() if row.startswith("| `"))
    )
    assert described == known | {"agreement", "agreement_reason"}


def test_every_protocol_is_described() -> None:
    assert re.findall(r"^\| `([\w-]+)`", PROTOCOL_ROWS, re.MULTILINE) == list(PROTOCOLS)


def test_examples_are_python_that_names_what_there_is() -> None:
    blocks = re.findall(r"```python\n(.*?)```", CARD, re.DOTALL)
    assert len(blocks) == 2
    given = set()
    for block in blocks:
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "metric.compute":
                given |= {keyword.arg for keyword in node.keywords}
    pairs = set(load_schema("pair")["properties"])
    assert given <= pairs | set(inspect.signature(NND.compute).parameters)
    assert 'evaluate.load("org/nnd")' in blocks[0]


def test_the_card_cites_the_paper_and_tells_the_version() -> None:
    assert "@inproceedings{laban-etal-2022-near," in CARD
    assert CARD.endswith("Made by nnd 9.8.7.\n")
    assert "{{" not in CARD


class Reader(HTMLParser):
    """Text and tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))


def test_the_page_names_the_metric_and_needs_nothing_from_elsewhere() -> None:
    page = Reader()
    page.feed(metric_page("org/nnd"))
    assert 'metric = evaluate.load("org/nnd")' in page.text
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links == ["https://huggingface.co/spaces/org/nnd/blob/main/README.md"]
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert not any("src" in attributes for _, attributes in page.tags)
