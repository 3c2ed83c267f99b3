"""Runs a command against a Hub on this machine, to rehearse what would be sent to the real one.

    python tests/support/hub nnd publish ratings-nnd my-org/ratings

The Hub begins empty and ends with the command; what it holds then is listed. The command gets a
made-up token and caches of its own: nothing of yours is read, and nothing leaves the machine. For
several commands, run a shell: `python tests/support/hub sh`.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from support.hub.clients import environment
from support.hub.server import Hub


def main(command: list[str]) -> int:
    """Run a command; return its exit status."""
    if not command:
        print(__doc__)  # noqa: T201
        return 2
    with Hub() as hub, TemporaryDirectory() as home:
        variables = environment(hub.endpoint, Path(home), token="hf_loopback_rehearsal")  # noqa: S106
        status = subprocess.run(command, env=variables, check=False).returncode
        for repository in hub._site.repositories.values():
            print(f"\n{hub.endpoint}/{repository.url} (gone now) holds")  # noqa: T201
            for path, data in sorted(hub.files(repository.kind, repository.name).items()):
                print(f"{len(data):>14,}  {path}")  # noqa: T201
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
