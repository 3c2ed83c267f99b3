"""What constraints.txt pins: all that an install brings, at the versions the tests ran with."""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from support.places import ROOT

from nnd.schemas import DISTRIBUTION

PINS = {
    canonicalize_name(name): pinned
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for name, pinned in [line.split("==")]
}


OF_A_BUILD = re.compile(r"(cuda|nvidia)-.+|triton")
"""What torch's builds for CUDA bring, each at versions of its own."""


def needed() -> set[str]:
    """Every distribution that ours needs here, with any of its extras, directly or not."""
    extras = metadata(DISTRIBUTION).get_all("Provides-Extra") or []
    found, todo = set[tuple[str, str]](), [(DISTRIBUTION, extra) for extra in ["", *extras]]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo.extend(requirements(*one))
    return {canonicalize_name(name) for name, _ in found} - {DISTRIBUTION}


def requirements(name: str, extra: str) -> Iterator[tuple[str, str]]:
    """Which distributions, with which extras, an installed one needs for one of its extras."""
    for requirement in map(Requirement, requires_of(name)):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield from ((requirement.name, wanted) for wanted in ["", *requirement.extras])


def requires_of(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:  # what an extra brings that is not installed here
        return []


def installed(name: str) -> str | None:
    """Return the installed version without its local part, which depends on the index."""
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return None


def test_all_that_an_install_brings_is_pinned_at_the_installed_version() -> None:
    found = {name: installed(name) for name in needed()}

    assert len(found) > 100
    unpinned = {name for name in found.keys() - PINS.keys() if not OF_A_BUILD.fullmatch(name)}
    if sys.version_info < (3, 12):  # other Pythons need a few more: the pins are made with this one
        assert unpinned == set()
    pinned = found.keys() & PINS.keys()
    assert {name: found[name] for name in pinned if found[name] not in (None, PINS[name])} == {}


def test_every_pin_installs_on_every_python_that_is_promised() -> None:
    promised = metadata(DISTRIBUTION)["Requires-Python"]
    pythons = [promised.removeprefix(">=") + ".0", "3.12.0", "3.13.0"]
    wanted = {
        name: SpecifierSet(metadata(name).get("Requires-Python") or "")
        for name in needed() & PINS.keys()
        if installed(name)
    }

    assert pythons[0] == "3.11.0"
    assert len(wanted) > 100
    assert [
        (name, python)
        for name, versions in sorted(wanted.items())
        for python in pythons
        if not versions.contains(python)
    ] == []


def test_a_pin_is_a_version_and_nothing_else() -> None:
    assert [pin for pin in PINS.values() if not re.fullmatch(r"[0-9][0-9a-z.]*", pin)] == []
    assert DISTRIBUTION not in PINS
