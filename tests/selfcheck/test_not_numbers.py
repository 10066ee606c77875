"""An answer of the right form whose numbers are none, NaN or infinite, passes no check of values."""

import base64

import pytest

from selfcheck.catalogue import exercises
from selfcheck.diagnose import first_difference
from selfcheck.recorded import visible_keys

BITS = {  # of one number, its lowest byte first
    "nan": {"float64": "000000000000f87f", "float32": "0000c07f", "float16": "007e", "bfloat16": "c07f"},
    "inf": {"float64": "000000000000f07f", "float32": "0000807f", "float16": "007c", "bfloat16": "807f"},
    "-inf": {"float64": "000000000000f0ff", "float32": "000080ff", "float16": "00fc", "bfloat16": "80ff"},
}


def filled(tree, name):
    """A packed answer with all its floating numbers replaced."""
    if tree["kind"] in ("tuple", "items"):
        return tree | {"items": [filled(item, name) for item in tree["items"]]}
    if tree["kind"] == "number" and tree["type"] == "float":
        return tree | {"value": name}
    if tree.get("dtype") not in BITS[name]:
        return tree
    one = bytes.fromhex(BITS[name][tree["dtype"]])
    count = len(base64.b64decode(tree["data"])) // len(one)
    return tree | {"data": base64.b64encode(one * count).decode()}


@pytest.mark.parametrize("name", BITS)
def test_no_number_passes_for_none_that_is_due(name):
    passed, tried = [], 0
    for exercise in exercises():
        for key in visible_keys(exercise):
            if "values" not in key.check.compares or any("error" in one for one in key.expected):
                continue
            got = [one | {"value": filled(one["value"], name)} for one in key.expected]
            if got == key.expected:  # booleans and whole numbers
                continue
            tried += 1
            if first_difference(key, key.expected, got) is None:
                passed.append(key.check.name)
    assert tried > 200 and not passed
