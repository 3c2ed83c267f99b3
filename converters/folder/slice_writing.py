"""A slice of a converted folder, written as a folder of the same kind."""

from collections.abc import Collection
from pathlib import Path

from nnd.converters.folder.conversion import Conversion, convert_again
from nnd.converters.folder.derived import Part
from nnd.schemas import SourceError, polars_schema, read_frame, read_manifest


def write_slice(
    folder: str | Path, out: str | Path, *, name: str, pair_ids: Collection[str]
) -> Conversion:
    """Write some pairs of a converted folder as a folder that can be evaluated.

    Annotations, references and human scores stay complete: a slice chooses pairs, not judgements.
    The manifest names the slice and counts its pairs, and counts the other pairs as dropped. In an
    existing `out`, only the files that its manifest lists are replaced.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if "sets" in manifest:
        raise SourceError("data.is-a-suite", "is a suite", folder)
    if not pair_ids:
        raise SourceError(
            "data.no-pairs",
            f"the slice {name} has no pairs, so nothing is written",
            folder,
            "choose another slice",
        )
    annotations = read_frame(folder, "annotations")
    references = read_frame(folder, "references", empty=polars_schema("reference"))
    if "slice" in manifest:
        name = f"{manifest['slice']['name']} & {name}"
    conversion = convert_again(annotations, references, manifest, Part(name, pair_ids))
    lost = {*pair_ids}.difference(conversion.pairs["pair_id"])
    if lost:
        raise SourceError("data.invalid", f"its annotations do not give pair {min(lost)}", folder)
    conversion.write(out)
    return conversion
