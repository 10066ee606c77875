"""The page judges as CPython with NumPy does: same verdicts, same messages, the same pictures to the digits shown."""

from __future__ import annotations

import re

import pytest

from . import gate
from .places import in_our_python, in_the_pages_python

#: Of each kind of answer and each exercise; the rest is for `make test-all`.
SAMPLE = (
    "2.1 wrong keys_first",
    "2.1 wrong rounded",
    "2.1 right side_by_side",
    "2.2 wrong keys_as_rows",
    "2.2 right filled_in",
    "2.3 wrong empty_row_division",
    "2.3 wrong overflow_error",
    "2.3 right by_its_logarithm",
    "2.4 wrong outputs_like_values",
    "2.4 right query_by_query",
    "2.5 wrong last_query_left_out",
    "2.5 right queries_scaled",
)
WITH_TORCH = {"2.1 right single_precision_torch", "2.5 right torch_matmul"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?")
SCORES = "def dot_scores(queries, keys):\n"
TEXTS = {
    "right": "import numpy as np\n\n\ndef dot_scores(queries, keys):\n    _check_same_width('q', queries, 'k', keys)\n"
    "    return np.asarray(queries, dtype=float) @ np.asarray(keys, dtype=float).T\n",
    "not started": SCORES + "    raise NotImplementedError\n",
    "syntax": SCORES + "    return queries @ @\n",
    "indentation": SCORES + "return queries\n",
    "no import": SCORES + "    return np.asarray(queries) @ np.asarray(keys).T\n",
    "list": SCORES + "    return queries.T\n",
    "other name": "def dot_score(queries, keys):\n    return 0\n",
    "printed": "import numpy as np\n" + SCORES + "    print(np.array(queries))\n    return None\n",
    "shapes": "import numpy as np\n" + SCORES + "    return np.array(queries) @ np.array(keys)\n",
    "broadcast": "import numpy as np\n" + SCORES + "    return np.array(queries) + np.array(keys)\n",
    "lost axis": "import numpy as np\n" + SCORES + "    x = np.array(queries)\n    return x / x.sum(axis=-1)\n",
    "not called": "import numpy as np\n" + SCORES + "    x = np.array(queries)\n    x.copy\n    return x\n",
    "taken apart": "import numpy as np\n" + SCORES + "    x, y = np.dot(queries, np.array(keys).T)\n    return x\n",
    "attribute": "import numpy as np\n" + SCORES + "    return np.array(queries).transposed()\n",
    "misspelled": "import numpy as np\n" + SCORES + "    return np.matmull(queries, keys)\n",
    "division": SCORES + "    return [[1.0 / 0.0]]\n",
    "logarithm": "import math\n" + SCORES + "    return math.log(0.0)\n",
    "endless calls": SCORES + "    return dot_scores(queries, keys)\n",
}
REQUESTS = [{"number": "2.2", "answers": {"2.2": text}} for text in TEXTS.values()]


def alike(page: str, ours: str) -> bool:
    """Whether two reports say the same, and show the same numbers but for the last digit shown."""
    if NUMBER.split(page) != NUMBER.split(ours):
        return False
    pairs = zip(NUMBER.findall(page), NUMBER.findall(ours), strict=True)
    return all(
        one == other or abs(float(one) - float(other)) <= 0.0101 * max(1, abs(float(one))) for one, other in pairs
    )


def differences(page: dict[str, list[str]], ours: dict[str, list[str]]) -> list[str]:
    """The answers that are judged otherwise in the page."""
    texts = [name for name in ours if page[name][0] != ours[name][0] or page[name][2] != ours[name][2]]
    return texts + [name for name in ours if name not in texts and not alike(page[name][1], ours[name][1])]


def test_a_sample_of_answers_and_whole_texts_is_judged_as_with_numpy(tmp_path):
    found = in_the_pages_python(tmp_path, list(SAMPLE), REQUESTS)
    ours = gate.verdicts("ps1", list(SAMPLE))
    assert set(found["verdicts"]) == set(SAMPLE) == set(ours)
    assert differences(found["verdicts"], ours) == []
    assert len(found["changed"]) > 100 and not any(found["changed"].values())  # the library lost comments alone
    (tmp_path / "ours").mkdir()
    for name, here, there in zip(TEXTS, found["told"], in_our_python(tmp_path / "ours", REQUESTS), strict=True):
        assert here["text"] == there["text"], name
        assert here["state"] == there["state"] and here["checks"] == there["checks"], name
        assert alike(here["html"], there["html"]), name


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_every_misconception_and_every_alternative_is_judged_as_with_numpy(tmp_path):
    found = in_the_pages_python(tmp_path, [], [])["verdicts"]
    ours = gate.verdicts("ps1", [])
    assert set(found) == set(ours) and len(ours) > 200
    assert set(differences(found, ours)) == WITH_TORCH


def test_reports_that_differ_are_told_apart():
    assert alike("-0.955 and 2", "-0.956 and 2")
    assert not alike("0.5 and 2", "0.7 and 2") and not alike("yours 1", "theirs 1")
