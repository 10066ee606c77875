"""Where things are in the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"
REFERENCE = SOLUTIONS / "attention"
STUBS = ROOT / "src" / "attention"
SELFCHECK = ROOT / "src" / "selfcheck"
RECORDED = SELFCHECK / "recorded"
BOOK = ROOT / "book"
COMMAND = "python -m autograder build"  # mends everything that is generated
