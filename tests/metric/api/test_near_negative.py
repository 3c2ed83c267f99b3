"""Whose package `nnd` is: the command and the metric do not run another project's."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import near_negative
import pytest
from support.places import ROOT

import nnd

NND = Path(sys.executable).with_name("nnd")


def check_named(place: object, command: list[Any], **options: Any) -> None:
    """Check that a command ends because it found another `nnd` there."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    remedy = (
        "which is not the package of near-negative; remove that one (if pip installed it: pip "
        "uninstall nnd) and reinstall near-negative, or use a virtual environment of its own"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"nnd: Python imports nnd from {place}, {remedy}\n"


def test_our_package_is_ours() -> None:
    assert nnd.DISTRIBUTION == "near-negative"
    near_negative.check_nnd()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "DISTRIBUTION = 'nnd'",
        "raise RuntimeError('no licence')",
        "import a_library_that_is_not_there",
    ],
)
def test_the_command_names_another_projects_package(tmp_path: Path, text: str) -> None:
    package = tmp_path / "nnd"
    package.mkdir()
    (package / "__init__.py").write_text(text)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    check_named(package / "__init__.py", [NND, "sources"], env=environment)


def test_a_folder_that_hides_an_editable_install_is_named(tmp_path: Path) -> None:
    """As after `pip install -e .` alone, without the front door on the path (Makefile)."""
    (tmp_path / "nnd").mkdir()
    program = (
        "import sys; sys.path = [path for path in sys.path if not path.endswith('/front')];"
        "import near_negative; near_negative.main()"
    )
    check_named(tmp_path / "nnd", [sys.executable, "-c", program], cwd=tmp_path)


def test_a_package_that_is_gone_is_named(tmp_path: Path) -> None:
    program = "import near_negative; near_negative.main()"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "nnd_metric" / "api")}
    command = [sys.executable, "-S", "-c", program]
    check_named("nowhere", command, cwd=tmp_path, env=environment)
