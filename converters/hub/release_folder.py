"""From a converted folder to the folder that is published, with checks of what may be published.

It has pairs, annotations and references with a file per split, human scores, the sets of a suite
and how well its negatives represent human pairs, the schemas of the rows, a manifest that lists
these files, and the card.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import yaml

from nnd.cards import check_card, count_differences, data_card
from nnd.converters.check import CheckedData, check_pairs
from nnd.converters.folder import Conversion, convert_again, validate
from nnd.converters.hub.preferences import preferences
from nnd.converters.pairs import find_contacts, find_in_manifest, redact_contacts, redact_manifest
from nnd.schemas import (
    LicenceError,
    PublishError,
    SchemaError,
    SchemaName,
    listed,
    polars_schema,
    published_path,
    read_frame,
    read_manifest,
    read_validity,
)

CARD, EVAL_YAML = "README.md", "eval.yaml"

SCHEMAS: tuple[SchemaName, ...] = ("pair", "human_score", "annotation", "reference", "source")
_NAMED = 20
"""Most rows that an error names, before the number of others."""


def read_release(
    folder: Path,
    *,
    private: bool = False,
    permission: str | None = None,
    redact: bool = False,
    keep_contacts: str | None = None,
    unverified: str | None = None,
) -> Conversion:
    """Return the content of a converted folder to publish, or raise why it may not be published.

    The arguments are those of `publish`. The manifest states a permission (`permission`), what was
    done about addresses (`contacts`: {redacted: {email, ip}} or {kept: why}), and why unverified
    files are published (`unverified`).

    Raises:
        SchemaError: If the folder has problems, or a split has a name that the Hub refuses.
        LicenceError: If it may not be redistributed.
        PublishError: If a file is not verified or texts hold addresses and no option says what to
            do, or a split's name has another meaning in `datasets`.
    """
    options = ("i-have-permission", "keep-contacts", "unverified")
    for option, reason in zip(options, (permission, keep_contacts, unverified), strict=True):
        if reason is not None and not reason.strip():
            raise PublishError("option.reason-missing", where=f"--{option}")
    if redact and keep_contacts is not None:
        raise PublishError("option.conflict", "--redact and --keep-contacts contradict each other")
    if findings := validate(folder).findings:
        raise SchemaError(
            "data.invalid",
            listed([*map(str, findings)], 1),
            folder,
            f"`nnd validate {folder}` lists all problems",
        )
    manifest = read_manifest(folder)
    _check_licence(manifest, folder, private=private, permission=permission)
    _check_verified(manifest, folder, unverified)
    annotations = read_frame(folder, "annotations")
    for split in sorted(annotations["split"].unique()):
        published_path("annotations", split)  # raises an error that states the allowed names
        if split.lower() == "all":
            raise PublishError(
                "data.split-name",
                f'for `datasets` the split "{split}" means all splits together',
                folder,
            )
    if permission is not None:
        manifest["permission"] = permission
    sets = [entry["name"] for entry in manifest.get("sets", ())]
    conversion = Conversion(
        annotations,
        read_frame(folder, "pairs"),
        read_frame(folder, "human_scores"),
        read_frame(folder, "references", empty=polars_schema("reference")),
        manifest,
        {name: read_frame(folder, f"sets/{name}") for name in sets},
        read_validity(folder),
    )
    return _without_contacts(conversion, folder, redact=redact, keep_contacts=keep_contacts)


def check_release(conversion: Conversion) -> tuple[Conversion, tuple[str, ...]]:
    """Return a conversion whose manifest states what `nnd check` finds, and that with remedies."""
    found = [check for check in check_pairs(CheckedData.of(conversion)) if not check.passes]
    # The card says elsewhere what was done about addresses.
    stated = [f"{one.name}: {one.message}" for one in found if one.name != "personal data"]
    manifest = {**conversion.manifest, "checks": stated}
    return replace(conversion, manifest=manifest), tuple(map(str, found))


def write_release(
    conversion: Conversion,
    folder: Path,
    repo_id: str,
    *,
    with_preferences: bool = True,
    eval_yaml: bool = False,
) -> dict[str, Path]:
    """Write a conversion to an empty folder to publish; return path in the repository → file.

    The same input gives the same bytes. With preferences, pairs are also written as preferences in
    messages; by eval.yaml the Hub knows a benchmark.
    """
    by_name = {
        "pairs": conversion.pairs,
        "annotations": conversion.annotations,
        "references": conversion.references,
        **{f"sets/{name}": rows for name, rows in conversion.sets.items()},
    }
    if with_preferences:
        by_name["preferences"] = preferences(conversion.pairs, conversion.manifest["source"])
    frames = {
        published_path(name, split): rows
        for name, frame in by_name.items()
        for (split,), rows in sorted(frame.group_by("split", maintain_order=True))
    }
    if conversion.pairs.is_empty():  # the file states the columns even without pairs
        frames[published_path("pairs", conversion.annotations["split"][0])] = conversion.pairs
    frames[published_path("human_scores", "any")] = conversion.human_scores
    (folder / "schemas").mkdir()
    unused = {"reference"} if conversion.references.is_empty() else set[str]()
    schemas = [f"{name}.schema.json" for name in SCHEMAS if name not in unused]
    for name in schemas:
        text = (package_files("nnd.schemas.contract") / name).read_bytes()
        (folder / "schemas" / name).write_bytes(text)
    others = [f"schemas/{name}" for name in schemas]
    if eval_yaml:
        (folder / EVAL_YAML).write_text(_benchmark(conversion), encoding="utf-8")
        others.append(EVAL_YAML)
    conversion.write_files(folder, frames, others)
    card = data_card(folder, repo_id)
    (folder / CARD).write_text(card, encoding="utf-8")
    if problems := list(check_card(card, folder)):
        raise PublishError("card.problems", listed([*map(str, problems)], 1), CARD)
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in written}


def _benchmark(conversion: Conversion) -> str:
    """Return eval.yaml: a task for each split of the pairs.

    It has no `evaluation_framework` yet, because the Hub's list of these has no nnd.
    """
    source = conversion.manifest["source"]
    splits = conversion.pairs["split"].unique().sort()
    tasks = [
        {"id": f"{source['name']}_{each}", "config": "pairs", "split": each} for each in splits
    ]
    described = "Tests of whether a language model prefers what people judged to be better."
    facts = {"name": source["pretty_name"], "description": described, "tasks": tasks}
    return yaml.safe_dump(facts, sort_keys=False, allow_unicode=True)


def _check_licence(
    manifest: Mapping[str, Any], folder: Path, *, private: bool, permission: str | None
) -> None:
    """Check that the licence allows redistribution, and changed texts if there are any."""
    source = manifest["source"]
    if permission is not None or source["redistribution"] == "allowed":
        return
    if "sets" in manifest and source["redistribution"] == "no-derivatives":
        raise LicenceError(
            "licence.forbids",
            f"the licence of {source['name']} ({source['licence']}) forbids changed texts, "
            "such as those of a suite",
            folder,
            "build the suite where it is used, or, if the owners allow it, publish with "
            '--i-have-permission "who said so, and when"',
        )
    if private:
        return
    why = {
        "no-derivatives": "forbids the redistribution of derived data, such as pairs",
        "unknown": "does not state whether the texts may be redistributed",
    }[source["redistribution"]]
    raise LicenceError(
        "licence.forbids",
        f"the licence of {source['name']} ({source['licence']}) {why}",
        folder,
        "publish it with --private, or, if its owners allow it, with --i-have-permission "
        '"who said so, and when"',
    )


def _check_verified(manifest: dict[str, Any], folder: Path, unverified: str | None) -> None:
    """Refuse unverified files unless a reason is given, which the manifest then states."""
    names = [file["name"] for file in manifest["files"] if not file["verified"]]
    if names and unverified is not None:
        manifest["unverified"] = unverified
    if names and "unverified" not in manifest:
        differences = ", ".join(count_differences(manifest))
        raise PublishError(
            "publish.unverified",
            f"made from unverified files: {', '.join(names)}{differences and f' ({differences})'}",
            folder,
        )


def _without_contacts(
    conversion: Conversion, folder: Path, *, redact: bool, keep_contacts: str | None
) -> Conversion:
    """Redact or keep addresses as requested, or as source.yaml says of its files, else refuse."""
    manifest = conversion.manifest
    if "kept" in manifest.get("contacts", {}) and keep_contacts is None and not redact:
        return conversion  # an earlier publish stated why
    in_manifest = list(find_in_manifest(manifest))
    rows = (conversion.annotations, conversion.references)
    if not redact and all(file["verified"] for file in manifest["files"]):
        keep_contacts = keep_contacts or manifest["source"].get("contacts", {}).get("reviewed")
    addresses = [*itertools.chain.from_iterable(map(find_contacts, rows)), *in_manifest]
    if not addresses:
        return conversion
    if keep_contacts is not None:
        contacts: dict[str, Any] = {"kept": keep_contacts}
        return replace(conversion, manifest={**manifest, "contacts": contacts})
    if redact and conversion.sets:
        raise PublishError(
            "publish.contacts",
            "the sets of a suite hold texts with addresses too, and are not redacted",
            folder,
            'publish with --keep-contacts "why", or build the suite from texts without addresses',
        )
    if redact:
        (annotations, counts), (references, further) = map(redact_contacts, rows)
        for kind in counts:
            counts[kind] += further[kind] + sum(each.kind == kind for each in in_manifest)
        redacted = {**redact_manifest(manifest), "contacts": {"redacted": counts}}
        conversion = convert_again(annotations, references, redacted)
        addresses = [*find_contacts(annotations), *find_contacts(references)]
        if not addresses:
            return conversion
    named = [f"row {one.row} {one.column} ({one.kind} {one.quote})" for one in addresses]
    remedy = (
        "names and labels are not redacted, because other rows refer to them; change convert.py"
        if redact
        else "publish with --redact to replace them"
    )
    raise PublishError(
        "publish.contacts",
        f"texts and manifest hold {len(addresses)} e-mail or IP addresses: {listed(named, _NAMED)}",
        folder,
        f'{remedy}, or with --keep-contacts "why" to keep them',
    )
