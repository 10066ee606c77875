"""Mutation tests of the checks: small mistakes made in the reference, of which each must fail some check.

`mutants_of` lists the mutants of a module of the reference, `judged` tells which check each fails, and `survivors`
reads the mutants that no check sees, each with the reason, from `survivors/<module>.toml`.
"""

from .judge import Outcome, Survivors, judged, modules, mutants_of, survivors
from .mutants import Mutant

__all__ = ["Mutant", "Outcome", "Survivors", "judged", "modules", "mutants_of", "survivors"]
