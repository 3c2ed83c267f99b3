"""A command meets a Hub of its own, and nothing of the user's."""

import os
import subprocess
import sys
from pathlib import Path

REHEARSAL = Path(__file__).parent


def rehearse(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REHEARSAL, *command],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_command_gets_a_hub_and_a_token_that_are_not_the_users() -> None:
    asked = "import os; print(os.environ['HF_ENDPOINT'], os.environ['HF_TOKEN']); exit(3)"

    done = rehearse(sys.executable, "-c", asked, HF_TOKEN="hf_real", HF_ENDPOINT="https://real")  # noqa: S106

    endpoint, token = done.stdout.split()
    assert endpoint.startswith("http://127.0.0.1:")
    assert token.startswith("hf_loopback_")
    assert done.returncode == 3


def test_without_a_command_it_says_how_to_use_it() -> None:
    done = rehearse()

    assert done.returncode == 2
    assert "python tests/support/hub nnd publish" in done.stdout
