"""The record of branches is read as it was written, and as an empty one where a hostile process wrote it."""

import pytest

from selfcheck.same_branches import ALL, MOST, OF_IMPORT, RECORD, Branches, Record

HOSTILE = {
    "nothing": "",
    "cut": '[{"0 a 1":"1"',
    "no pair": "[1, 2, 3]",
    "a word": '"ab"',
    "numbers": "[1, 2]",
    "no text": '[{"0 a 1": 7}, []]',
    "letters": '[{"0 a 1": "xyz"}, []]',
    "large": '[{"0 a 1": [256]}, []]',
    "infinite": '[{"0 a 1": [Infinity]}, []]',
    "nested": "[" * 100_000,
    "long": f'[{{"0 a 1": [{"9" * 10_000}]}}, []]',
    "no places": '[{}, [{"a": 1}]]',
}


def recorded(*tests):
    """The branches of a run that takes one before the first call, and one in each of two calls."""
    branches = Branches(RECORD)
    for test in tests:
        branches.taken("attention.masks 1", test)
        branches.begin_call()
    branches.raises("attention.masks 2")
    return branches


def test_a_record_is_read_as_it_was_written():
    record = recorded(True, False, True).record
    assert Record.read(record.text()) == record


def test_another_run_takes_the_recorded_branch_where_it_is_forced_and_names_it_where_it_is_not():
    text = recorded(True, False).record.text()
    for forced, takes, guard in ((), True, "1 attention.masks 1 0"), (("1 attention.masks 1 0",), False, ""):
        branches = Branches(text, forced)
        assert branches.taken("attention.masks 1", True) and not branches.guard()
        branches.begin_call()
        assert branches.taken("attention.masks 1", True) == takes
        assert branches.guard() == guard == branches.guard()
        branches.begin_call()
        assert not branches.guard()
    assert branches.raises("attention.masks 2") and not branches.raises("attention.masks 3")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_record_is_an_empty_one(text):
    assert Record.read(text) == Record()
    assert Branches(text).taken("attention.masks 1", True)


@pytest.mark.parametrize("forced, taken", [((ALL,), [True, False]), ((OF_IMPORT,), [True, True]), ((), [False, True])])
def test_all_branches_or_those_of_the_import_are_taken_as_before(forced, taken):
    branches = Branches(recorded(True, False).record.text(), forced)
    found = [branches.taken("attention.masks 1", False)]
    branches.begin_call()
    assert [*found, branches.taken("attention.masks 1", True)] == taken


def test_of_a_long_record_the_first_times_are_kept():
    whole = Record({f"1 attention.masks {place}": bytearray(MOST // 8) for place in range(9)}, {"attention.masks 2"})
    cut = Record.read(whole.text())
    assert cut.raised == whole.raised and cut.outcomes.keys() == whole.outcomes.keys()
    assert len(whole.text()) <= MOST and all(cut.outcomes.values())


def test_values_that_decide_are_kept_and_only_those():
    branches = Branches(recorded(True, False).record.text(), (ALL,))
    assert branches.chosen("attention.masks 1", [1]) == [1]
    branches.begin_call()
    assert branches.chosen("attention.masks 1", [1]) is False
    assert branches.number("attention.masks 3", 1) == 1 and branches.number("attention.masks 1", 7) == 7
    assert branches.index("attention.masks 1", 1) == 1
