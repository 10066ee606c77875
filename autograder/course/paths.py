"""The folders of the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"
REFERENCE = SOLUTIONS / "attention"
STUBS = ROOT / "src" / "attention"
SELFCHECK = ROOT / "src" / "selfcheck"
RECORDED = SELFCHECK / "recorded"
BOOK = ROOT / "book"
COMMAND = "python -m autograder build"  # regenerates stubs, recorded answers and notebooks
