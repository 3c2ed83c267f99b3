"""The commands that make NND pairs of an annotation file, and check them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nnd.metric.cli.printing import AsJson, show


def sources(*, as_json: AsJson = False) -> None:
    """List sources and their sets: task, language, licence, rule, pairs, variants.

    Built in are those without a distribution behind their name; others come with installed packages
    (entry point group nnd.sources). What is wrong with one of these is told, and hides no other.
    """
    from nnd.converters.source import find_sources
    from nnd.metric.tables import sources_table

    entries: list[dict[str, Any]] = []
    found = find_sources()
    for each in found:
        marks = {"name": each.name, "distribution": each.distribution, "problem": each.problem}
        sets = [] if each.source is None else each.source.facts.get("sets", {})
        chosen = [] if each.source is None else [each.source]
        chosen += [source.choose("set", name) for source in chosen for name in sets]
        entries += [{**source.facts, **marks} for source in chosen] or [marks]
    problems = [f"{each.name}: {each.problem}" for each in found if each.problem]
    show(entries, as_json, sources_table(entry for entry in entries if "task" in entry), *problems)


def convert(
    source: Annotated[str, typer.Argument(help="Built-in source, or folder with a source.yaml.")],
    *,
    origin: Annotated[
        Path | None,
        typer.Option("--from", help="Folder or file with the annotations; else they are fetched."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write.", show_default="SOURCE-nnd")
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", help="Which of a source's sets of files, e.g. ted/ende.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="Another reading of the same files, e.g. severity.")
    ] = None,
    normalise: Annotated[
        list[str],
        typer.Option(
            metavar="STEP",
            help="Change candidates and contexts: nfc, whitespace or detokenise; repeat it for "
            "several. Without it texts stay as they are.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
) -> None:
    """Convert a source's annotation files into NND pairs and human scores.

    Writes pairs.parquet, human_scores.parquet, annotations.parquet and manifest.json.
    Example: nnd convert quiz_design --from ~/data/quiz_design --out quiz_design-nnd
    """
    from nnd.converters.folder import convert as convert_
    from nnd.metric.tables import counts_table, hygiene_tables

    target = out or Path(f"{Path(source).resolve().name}-nnd")
    manifest = convert_(
        source,
        origin=origin,
        out=target,
        set_name=set_name,
        variant=variant,
        normalise=normalise,
    ).manifest
    notes = [
        f"{file['name']} is unverified ({_why_unverified(manifest, file['name'])}): "
        "expected counts were not checked"
        for file in manifest["files"]
        if not file["verified"]
    ]
    notes += [f"odd: {oddity}" for oddity in manifest["oddities"]]
    if normalise:
        notes.append(f"candidates and contexts were changed: {', '.join(normalise)}")
    tables = [counts_table(manifest), *hygiene_tables(manifest["hygiene"])]
    show(manifest, as_json, *tables, *notes, f"written to {target}")


def validate(
    folder: Annotated[Path, typer.Argument(help="A folder that `nnd convert` wrote.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Check a converted folder against the contract; list every problem, exit with 1 if any.

    Example: nnd validate quiz_design-nnd
    """
    from nnd.converters.folder import validate as validate_

    findings = list(validate_(folder))
    lines = [str(finding) for finding in findings]
    show(lines, as_json, *lines, f"{folder}: {len(findings) or 'no'} problem(s)")
    raise typer.Exit(1 if findings else 0)


def _why_unverified(manifest: dict[str, Any], name: str) -> str:
    declared = {file["name"]: file["sha256"] for file in manifest["source"]["files"]}
    if declared[name] is None:
        return "no SHA-256 is declared, as the true one is not known"
    return "its SHA-256 is not the declared one"
