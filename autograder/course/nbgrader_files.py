"""The files by which nbgrader's own commands find a course's grader, and run nothing of a learner's without it.

nbgrader goes on, and executes what was handed in, where nbgrader_config.py cannot be imported or stops. So the file
ends the command where the grader is missing; and nbgrader_config.json, which nbgrader reads whatever becomes of the
other, names a kernel that there is not. To disable execution would be worse: cells that did not run count as passed. So
both enable it, in case the settings in somebody's home do not.
"""

from __future__ import annotations

import json
from pathlib import Path

from selfcheck.atomic_files import write_atomically

SETTINGS, STATIC_SETTINGS = "nbgrader_config.py", "nbgrader_config.json"
KERNEL = "submissions-run-in-the-sandbox-of-the-course-alone"
TEXT = f'''"""The course's nbgrader settings: grading goes through the course's own grader, and never without it.

Settings of your own belong at the end; a later version of the grader may renew what stands above.
"""

c = get_config()  # noqa: F821
c.Execute.kernel_name = "{KERNEL}"  # there is none: nbgrader itself runs nothing
c.Execute.enabled = True  # whatever other settings say: cells that nothing ran would count as passed

import sys  # noqa: E402
from pathlib import Path  # noqa: E402

try:
    from autograder.nbgrader_plugin import configure

    configure(c, Path(__file__).resolve().parent)
except Exception as error:
    print(
        f"{{__file__}}: the course's grader cannot be used by {{sys.executable}} ({{type(error).__name__}}: {{error}}). "
        "Nothing is run or graded. Use nbgrader from the environment that the grader is installed in, or run "
        "`python -m autograder grade` there.",
        file=sys.stderr,
    )
    raise SystemExit(1) from None
# Settings of your own:
'''
#: How the file began in earlier versions.
FORMER = (
    '''"""The course's nbgrader settings: grading goes through the course's own grader."""

from pathlib import Path

from autograder.nbgrader_plugin import configure

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent)
''',
)


def write_missing(root: Path) -> None:
    """Write those of the files that a course does not have; what is there is left as it is."""
    static = json.dumps({"Execute": {"kernel_name": KERNEL, "enabled": True}}, indent=1) + "\n"
    for name, text in ((SETTINGS, TEXT), (STATIC_SETTINGS, static)):
        if not (root / name).exists():
            write_atomically(root / name, text)


def name_a_database(root: Path) -> bool:
    """Whether a course's own settings may name another gradebook than the file in its folder: a server, say."""
    path = root / SETTINGS
    return path.is_file() and b"db_url" in path.read_bytes()


def renew(root: Path) -> str:
    """Bring what an earlier version wrote at the beginning of nbgrader_config.py up to date; what was done, or "".

    An instructor's own lines after it stay as they are, and a file that begins otherwise is left alone.
    """
    path = (root / SETTINGS).resolve()
    try:
        text, mode = path.read_bytes().decode("utf-8"), path.stat().st_mode & 0o777
    except (OSError, UnicodeDecodeError):
        return ""
    for former in FORMER:
        if text.startswith(former):
            write_atomically(path, TEXT + text.removeprefix(former), mode)
            return (
                f"{SETTINGS} of this course was written by an earlier version and is renewed: where the grader is "
                "missing, nbgrader's own commands now stop. Your own lines in it are unchanged."
            )
    return ""
