"""Hook of mkdocs: it generates the page of the datasets from the facts of the sources."""

from collections.abc import Iterator, Mapping
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from nnd.cards.markdown import Table, escape, prose, render_table
from nnd.cards.rule_words import rules_in_words
from nnd.converters.source import list_sources
from nnd.schemas import JudgedSystem, read_systems

_MAY = {
    "allowed": "Pairs may be published under the same terms.",
    "no-derivatives": "Pairs may be published with the owners' permission only.",
    "unknown": "The source does not state whether pairs may be published: ask its owners.",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    files.append(File.generated(config, "reference/datasets.md", content=datasets_page()))
    return files


def datasets_page() -> str:
    """Return what is known of every source."""
    heading = (
        "# Datasets\n\nWhat is known of each source: who judged what, the error categories, the "
        "limits and the citation. [Choose a dataset](../datasets.md) has an example of each."
    )
    facts = (source.facts for source in list_sources())
    return "\n\n".join([heading, *(part for each in facts for part in _source(each)), ""])


def _source(facts: Mapping[str, Any]) -> Iterator[str]:
    name = facts["name"]
    yield f"## {name}"
    languages = ", ".join(f"`{language}`" for language in facts["languages"])
    licence = "not stated" if facts["licence"] == "unknown" else facts["licence"]
    yield (
        f"**{escape(facts['pretty_name'])}**: {facts['task'].replace('-', ' ')} ({languages}). "
        f"Licence: {licence}. {_MAY[facts['redistribution']]}"
    )
    yield f"```sh\nnnd convert {name}\n```"
    yield f"**Texts.** {prose(facts['texts'])}"
    yield f"**How people judged.** {prose(facts['annotation_process'])}"
    yield "**Which candidate is better.**"
    yield rules_in_words(facts["quality"], [*facts["aspects"]])
    yield _named("aspect", "question", facts["aspects"])
    if taxonomy := facts["taxonomy"]:
        described = {label: entry.get("description") for label, entry in taxonomy.items()}
        yield _named("error category", "meaning", described)
    yield "**Limits.**"
    yield "\n".join(f"- {prose(each)}" for each in facts["limitations"])
    yield from _systems(read_systems(facts))
    if facts["homepage"]:
        yield f"**Published at** <{facts['homepage']}>"
    yield f"```bibtex\n{facts['citation'].strip()}\n```"


def _named(what: str, says: str, entries: Mapping[str, str | None]) -> str:
    rows = tuple((f"`{name}`", prose(text or "")) for name, text in entries.items())
    return render_table(Table((what, says), "ll", rows))


def _systems(systems: Mapping[str, JudgedSystem]) -> Iterator[str]:
    names = [f"`{name}`{_checkpoint(system)}" for name, system in systems.items()]
    is_public = any(system.checkpoint for system in systems.values())
    explained = " Names in brackets are those on the Hub." if is_public else ""
    if systems:
        yield f"**Systems.** {', '.join(names)}.{explained}"


def _checkpoint(system: JudgedSystem) -> str:
    """Return the Hub id in brackets, and how certain it is unless it is exact."""
    if system.checkpoint is None:
        return ""
    certainty = "" if system.certainty == "exact" else f", {system.certainty}"
    return f" (`{system.checkpoint}`{certainty})"
