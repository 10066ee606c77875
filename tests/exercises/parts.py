"""The parts of an exercise that a proof of it depends on, apart from what is imported."""

import pytest

from autograder.course.paths import ROOT

#: Files that hold an exercise, by the name of its module; what these import belongs to them.
PARTS = (
    "solutions/attention/{}.py",
    "src/selfcheck/catalogue/{}.toml",
    "src/selfcheck/checks/{}.py",
    "src/selfcheck/recorded/{}.json",
    "autograder/**/hidden/{}.py",
    "autograder/**/long_axes/{}.json",
    "autograder/**/misconceptions/{}.py",
    "tests/alternatives/{}.py",
)
SURVIVORS = "autograder/**/survivors/*.toml"
CATALOGUE = "src/selfcheck/catalogue/*.toml"  # read as a whole; a proof uses the entry of its own exercise


def parts_of_module(module: str) -> list[str]:
    """The files that hold the exercises of a module."""
    return [part.format(module) for part in PARTS]


def survivors_of(module: str) -> list[str]:
    """The file that lists the surviving mutants of a module; none where no mutant survives."""
    listed = [path.relative_to(ROOT).as_posix() for path in ROOT.glob(SURVIVORS)]
    assert listed, f"no file is called {SURVIVORS}"
    return [name for name in listed if name.endswith(f"/{module}.toml")]


#: What tells which exercises train a model, and which axes are long; that chooses which proofs there are.
CHECKS = ("src/selfcheck/checks/*.py", "src/selfcheck/recorded/*.json", "autograder/**/long_axes/*.json")

#: Marks a test that has a parameter `exercise` as a proof of that exercise.
proof_of_an_exercise = pytest.mark.proof(
    depends=lambda exercise: parts_of_module(exercise.module),
    area=lambda exercise: f"exercises/{exercise.module}",
    ignores=CATALOGUE,
    collects=CHECKS,
)

#: Marks a test that has a parameter `module` as a proof about the mutants of that module of the reference.
proof_of_mutants = pytest.mark.proof(
    depends=lambda module: [*parts_of_module(module), *survivors_of(module)],
    area=lambda module: f"exercises/{module}",
    ignores=CATALOGUE,
)
