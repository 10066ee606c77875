"""What must never be handed out, and what was."""

from functools import cache

from autograder.answer_key.checks import hidden_checks
from autograder.course.paths import REFERENCE, ROOT


@cache
def solution_lines():
    """Lines that stand in a solution region and nowhere in the stubs: what must never be handed out."""
    found = set()
    for path in REFERENCE.glob("*.py"):
        inside = False
        for line in path.read_text().splitlines():
            if "# solution:" in line:
                inside = "begin" in line
            elif inside and len(line.strip()) > 15 and "import" not in line:
                found.add(line.strip())
    given = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    return {line for line in found if line not in given}


@cache
def hidden_words(chosen):
    """The names of the hidden checks of some exercises, and what they are said to see."""
    return {word for exercise in chosen for check in hidden_checks(exercise) for word in (check.name, check.sees)}


def files_of(*folders):
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.read_bytes().decode("utf-8", "replace") for path in paths}
