"""The card of a converted folder: the README.md that it has on the Hub."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from nnd.cards.asked import example_request
from nnd.cards.content import CardContent, read_content
from nnd.cards.examples import MOST_EXAMPLES
from nnd.cards.front_matter import configs, metadata
from nnd.cards.markdown import Table, code, escape, fence, joined, prose, render_table
from nnd.cards.marks import is_marked, marked_card, merge_card
from nnd.cards.rule_words import rules_in_words
from nnd.cards.sentences import card_sentences
from nnd.cards.systems import leaves_out_scores, score_definitions
from nnd.cards.tables import card_tables
from nnd.schemas import DISTINCT, PublishError, SchemaError, load_schema, replace_own

REDISTRIBUTION = {
    "allowed": "Converted data may be redistributed under the same terms.",
    "no-derivatives": "It does not allow derived data, such as these pairs, to be redistributed.",
    "unknown": "Whether derived data may be redistributed is not known; ask the authors first.",
}
"""What the source's `redistribution` means for the licence, in a sentence."""

_ROWS = {
    "pairs": "one row per test",
    "human_scores": "one row per system and category",
    "annotations": "every human judgement, one row per label or score of a candidate",
    "references": "texts that people wrote for the contexts, with which metrics compare candidates",
    "preferences": "each test as messages (prompt, chosen, rejected); a model that is trained on "
    "them can no longer be tested on the pairs",
}


def check_repo_id(repo_id: str) -> None:
    """Raise a PublishError if a name is not ORG/NAME, as the Hub allows it."""
    where = f'"{repo_id}"'
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        what = f"not the name of a repository: {error}"
        raise PublishError("hub.name", what, where) from error
    if "/" not in repo_id:
        raise PublishError("hub.name", "the owner is missing", where, f"write ORG/{repo_id}")


def data_card(folder: Path, repo_id: str) -> str:
    """Return the card of a converted folder: metadata in YAML, and Markdown.

    The same folder gives the same card, whether it is in the layout of `nnd convert` or of the Hub.
    `repo_id` is ORG/NAME of the data set on the Hub, for the commands that load it.
    """
    check_repo_id(repo_id)
    content = read_content(folder)
    body = re.sub(r"[ \t]+\n", "\n", _template().render(_fields(content, repo_id)))
    return marked_card(metadata(content), re.sub(r"\n{3,}", "\n\n", body).strip())


@cache
def _template() -> Template:
    # The result is Markdown; every text is made safe for that on its way in.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )
    texts = {"code": code, "fence": fence, "joined": joined, "literal": escape, "prose": prose}
    environment.filters |= texts
    return environment.get_template("data_card.md.jinja")


def write_card(folder: Path, repo_id: str, out: Path) -> None:
    """Write the card of a folder to a file, whole or not at all; arguments as for `data_card`.

    Creates missing folders. Text above or below the marks of an older card stays.

    Raises:
        NNDError: As in `data_card`, if the file is not a card of nnd, or if nnd's part of it was
            changed by hand; nothing is written then.
        OSError: If the file cannot be written.
    """
    card = data_card(folder, repo_id)
    with replace_own(out, is_marked) as fresh:
        held = read_card(out) if out.exists() else ""
        text = merge_card(held, card, str(out)) if held else card
        fresh.write_bytes(text.encode())


def renew_card(held: Path, folder: Path) -> None:
    """Write the card of a folder into it, with the owner's text and the Hub name of an older card.

    Raises:
        NNDError: As in `write_card`.
    """
    text = read_card(held)
    named = re.search(r'load_dataset\("([^"]+)"', text)
    card = data_card(folder, named[1] if named else f"ORG/{held.resolve().parent.name}")
    (folder / held.name).write_bytes(merge_card(text, card, str(held)).encode())


def read_card(path: Path) -> str:
    """Return the text of a card."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SchemaError(
            "file.not-found", "there is no card", path, "write it with `nnd card --out`"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SchemaError("file.not-readable", f"cannot be read: {reason}", path) from error


def _fields(content: CardContent, repo_id: str) -> dict[str, Any]:
    source, pairs, scores = content.source, content.pairs, content.human_scores
    columns = load_schema("pair")["properties"].items()
    described = [(code(name), prose(column["description"])) for name, column in columns]
    labels = {*pairs["error_category"]}
    return {
        "repo_id": repo_id,
        "content": content,
        "source": source,
        "manifest": content.manifest,
        "named": [
            f"the {kind} {code(source[kind])}" for kind in ("set", "variant") if source.get(kind)
        ],
        "configs": [
            {
                "name": config["config_name"],
                "variable": re.sub(r"\W|^(?=\d)", "_", config["config_name"]),
                "split": config["data_files"][0]["split"],
                "rows": _ROWS.get(config["config_name"], "a set of the suite, one row per test"),
            }
            for config in configs(content)
        ],
        "constructed": source.get("origin") == "constructed",
        "has_pairs": not pairs.is_empty(),
        "columns": render_table(Table(("column", "what it is"), "ll", described)),
        "not_stated": "The source does not say.",
        "request": "\n".join(example_request(content)),
        "rule": rules_in_words(source["quality"], list(source["aspects"])),
        "absent": [label for label in source["taxonomy"] if label not in labels],
        "several_errors": pairs.select(DISTINCT).n_unique() < pairs.height,
        "examples_left_out": max(0, len(labels) - MOST_EXAMPLES),
        "redistribution": REDISTRIBUTION[source["redistribution"]],
        "sentences": card_sentences(content),
        "tables": {name: [*map(render_table, some)] for name, some in card_tables(content).items()},
        "definitions": score_definitions(scores),
        "public": scores["model_id"].is_not_null().any(),
        "scores_left_out": leaves_out_scores(scores),
        "grouped": pairs["group"].is_not_null().any(),
    }
