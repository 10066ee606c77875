"""The two files beside a released notebook that tell a learner how to begin: README.md and requirements.txt."""

from __future__ import annotations

import re

from selfcheck.catalogue import modules_of

from ..build.urls import course_title, site_url
from ..course.paths import ROOT

#: What of requirements.txt a learner needs. The rest is the grader's and the book's.
NEEDED = ("numpy", "torch", "click", "rich", "jupyterlab", "ipywidgets")
README, REQUIREMENTS = "README.md", "requirements.txt"
TEXT = """# {name}

You need Python 3.11 to 3.14. In a terminal, in this folder:

```
python3 -m venv .venv
source .venv/bin/activate
python -m pip install -r requirements.txt
python -m selfcheck
jupyter lab
```

On Windows the first two lines are `py -m venv .venv` and `.venv\\Scripts\\activate`.

- `{set}.ipynb` is the problem set: open it in JupyterLab, and go on as it says.
- {modules} {is_where} your code goes.
- `selfcheck` checks it. Leave it as it is.

When you are done, `pack("{set}")` in the notebook writes `{set}.zip`: hand that in.
The learner's guide: {guide}
"""


def handout_files(problem_set: str) -> dict[str, str]:
    """The text of both files, by name."""
    modules = [f"`attention/{name}.py`" for name in modules_of(problem_set)]
    listed = " and ".join(filter(None, (", ".join(modules[:-1]), modules[-1])))
    text = TEXT.format(
        name=f"{course_title()}: problem set {problem_set.removeprefix('ps')}",
        set=problem_set,
        modules=listed,
        is_where="is where" if len(modules) == 1 else "are where",
        guide=f"{site_url().rstrip('/')}/guides/learner.html",
    )
    return {README: text, REQUIREMENTS: pinned(NEEDED)}


def pinned(names: tuple[str, ...]) -> str:
    """The lines of requirements.txt of these packages; LookupError for one that is not there."""
    lines = {}
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if name := re.match(r"([\w.-]+)==", line):
            lines[name[1].casefold()] = line
    missing = [name for name in names if name.casefold() not in lines]
    if missing:
        raise LookupError(f"requirements.txt pins no {', '.join(missing)}: correct the NEEDED that names it")
    return "".join(f"{lines[name.casefold()]}\n" for name in names)
