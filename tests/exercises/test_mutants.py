"""Small mistakes in the reference fail a check: a part of what `prove` shows of all of them."""

import random

import pytest

from autograder.authoring import mutation

from .parts import proof_of_mutants

MODULES = mutation.modules()
LEAST = 0.97  # of the mutants that are not equivalent, as `prove` asks of all of them
SOME = 10  # mutants of each module

each = pytest.mark.parametrize("module", MODULES)


@proof_of_mutants
@each
def test_mutants_of_the_reference_fail_a_check(module):
    listed = mutation.survivors(module)
    different = [mutant for mutant in mutation.mutants_of(module) if mutant.name not in listed.equivalent]
    chosen = random.Random(0).sample(different, SOME)
    alive = [outcome.name for outcome in mutation.judged(chosen, processes=1) if outcome.survives_in(module)]
    assert [name for name in alive if name not in listed.unseen] == []


@proof_of_mutants
@each
def test_every_survivor_is_a_mutant_and_has_a_reason(module):
    listed = mutation.survivors(module)
    names = {mutant.name for mutant in mutation.mutants_of(module)}
    assert not (listed.equivalent.keys() | listed.unseen.keys()) - names
    assert not listed.equivalent.keys() & listed.unseen.keys()
    assert all(len(reason) > 20 for reason in (*listed.equivalent.values(), *listed.unseen.values()))
    assert len(listed.unseen) <= (1 - LEAST) * (len(names) - len(listed.equivalent))
