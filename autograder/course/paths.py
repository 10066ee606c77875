"""The folders of the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"
REFERENCE = SOLUTIONS / "attention"
STUBS = ROOT / "src" / "attention"
SELFCHECK = ROOT / "src" / "selfcheck"
RECORDED = SELFCHECK / "recorded"
HANDED_OUT = SELFCHECK / "stubs"  # each stub once more, for a learner who wants to begin anew
BOOK = ROOT / "book"
ALTERNATIVES = ROOT / "tests" / "alternatives"  # right answers in other styles: part of a checkout alone
COMMAND = "python -m autograder build"  # regenerates stubs, recorded answers and notebooks
