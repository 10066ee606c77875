"""Code that has the runs with the same branches come to no end counts as using the function all the same."""

import pytest

from selfcheck.call_effect import MOVES, effect
from selfcheck.same_branches import RECORD

from .test_call_effect import COMPARISONS, ROUNDED, SAME, STOPPED, answers_depend, package

__all__ = ["package"]  # the fixture

#: What a comparison may do besides so that the runs that take the same branches come to no end.
EVADED = {
    "ends the process": "if not same:\n        raise Ended",
    "in more branches than rounds": "for one, two in zip([own.flatten()] * 9, [theirs.flatten()] * 9):\n"
    "        for a, b in zip(one, two):\n            if abs(a - b) > 2e-12:\n                return None",
    "beside more branches than a record holds": "for i in range(2**14):\n        "
    + "if i: pass\n        " * 300
    + "\n    if not same:\n        return None",
    "and empties the record": "branches = globals().get('__branches__')\n    if branches:\n"
    "        branches.record.outcomes.clear()\n    if not same:\n        return None",
}


@pytest.mark.parametrize("evasion", EVADED.values(), ids=EVADED)
def test_who_rounds_and_evades_the_same_branches_counts_as_using_it(package, evasion):
    ask = package("\n\nclass Ended(BaseException):\n    pass\n" + ROUNDED.format(comparison=evasion))

    def ending(bends):
        found = []
        for bend in bends:
            try:
                found += ask([bend])
            except BaseException as error:
                assert type(error).__name__ == "Ended"
                found.append(STOPPED)
        return found

    assert answers_depend(ending)


def test_what_is_ended_though_it_takes_the_branches_of_before_uses_it(package):
    """Code may evade behind more branches than are recorded."""
    ask = package(SAME.format(comparison=COMPARISONS["assert"]))

    def stopped(bends):
        evades = [bool(bend) and bend.branches not in ("", RECORD) for bend in bends]
        return [STOPPED if one else answers for one, answers in zip(evades, ask(bends), strict=True)]

    assert effect(stopped, ask([None])[0]) == MOVES
