"""The program `selfcheck`: a waiting process answers it where there is one, otherwise this one does."""

from __future__ import annotations

import sys


def main() -> None:
    """Carry out the command that the arguments name, and end with its exit code."""
    from . import served

    code = served.exit_code(sys.argv[1:])
    if code is not None:
        sys.exit(code)
    from .commands import main as command

    try:
        command(prog_name="python -m selfcheck")
    finally:
        served.start()


if __name__ == "__main__":
    main()
