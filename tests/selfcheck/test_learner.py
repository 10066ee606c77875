"""A learner's day, in a released bundle with no solution on the path."""

import json
import os
import subprocess
import sys
import zipfile

import pytest

from autograder.release import bundle as releasing
from selfcheck import commands
from selfcheck.catalogue import exercises

#: Each runs a Python of its own, which imports torch; what it prints follows from the bundle alone, less what that says
#: of the site and of packages to install.
pytestmark = pytest.mark.proof(depends=("src", "solutions/attention"), ignores=("book/_config.yml", "requirements.txt"))

RIGHT_MASK = """

def causal_mask(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    check_length("query_length", query_length)
    check_length("key_length", key_length)
    return torch.ones(query_length, key_length, dtype=torch.bool, device=device).tril(key_length - query_length)
"""


@pytest.fixture
def bundle(tmp_path):
    """The files of the ps3 bundle, as a learner unpacks them."""
    for name, text in releasing.bundle("ps3").items():
        path = tmp_path / "ps3" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "ps3"


def python(bundle, code, expect=0, **environment):
    """What a fresh Python in the bundle's folder prints; the repository is not on its path."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(bundle),
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "200",
    } | environment
    command = [sys.executable, *(["-c", code] if isinstance(code, str) else code)]
    done = subprocess.run(command, cwd=bundle, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def answer(bundle, module="masks", text=RIGHT_MASK):
    path = bundle / "attention" / f"{module}.py"
    path.write_text(path.read_text() + text)


def test_a_stub_is_told_where_to_begin(bundle):
    said = python(bundle, 'from selfcheck import check; print(check("masks.causal_mask"))')
    assert "not started yet" in said and 'edit("masks")' in said and "Traceback" not in said


def test_a_right_answer_passes_every_visible_check(bundle):
    answer(bundle)
    said = python(bundle, 'from selfcheck import check; r = check("masks.causal_mask"); print(r, r.passed)')
    assert "passes every visible check" in said and said.strip().endswith("True")


def test_a_wrong_answer_is_diagnosed_and_drawn_beside_the_expected_one(bundle):
    answer(bundle, text=RIGHT_MASK.replace(".tril(key_length - query_length)", ".tril()"))
    said = python(bundle, 'from selfcheck import check; r = check("4.2"); print(r); print(r._repr_html_())')
    assert "aligned to the start" in said
    assert "<caption" in said and "yours" in said and "expected" in said


BY_TORCH = """

from torch.nn.attention import bias
g = getattr

def causal_mask(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    check_length("query_length", query_length)
    check_length("key_length", key_length)
    return g(bias, "causal_" + "lower_right")(query_length, key_length)._materialize() if query_length else _none()

def _none():
    return torch.zeros(0, 0, dtype=torch.bool)
"""
COMPARED = (
    RIGHT_MASK
    + """

_own = causal_mask

def causal_mask(*args, **kwargs) -> "torch.nn.attention.bias.CausalBias":
    from torch.nn.attention.bias import CausalBias, causal_lower_right

    mask = _own(*args, **kwargs)
    assert not isinstance(mask, CausalBias)
    if 0 < mask.shape[0] <= mask.shape[1]:
        assert torch.equal(mask, causal_lower_right(*mask.shape)._materialize())
    return mask
"""
)


@pytest.mark.parametrize(("text", "passes"), [(BY_TORCH, False), (COMPARED, True)])
def test_what_a_forbidden_function_computes_counts_and_what_it_is_compared_with_does_not(bundle, text, passes):
    answer(bundle, text=text)
    said = python(bundle, 'from selfcheck import check; r = check("masks.causal_mask"); print(r, r.passed)')
    assert said.strip().endswith(str(passes))
    assert ("asks you to write that step yourself" in said) is not passes


def test_a_saved_file_counts_at_once_in_a_running_kernel(bundle):
    code = f"""
from selfcheck import check
before = check("masks.causal_mask").passed
with open("attention/masks.py", "a") as file:
    file.write({RIGHT_MASK!r})
print(before, check("masks.causal_mask").passed)
"""
    assert python(bundle, code).split() == ["False", "True"]


def test_checking_imports_no_solution_and_leaves_imported_modules_alone(bundle):
    code = """
import sys, attention
mine = attention.masks
from selfcheck import check
check("masks.causal_mask")
print(sys.modules["attention.masks"] is mine, "autograder" in sys.modules, "numpy" in sys.modules)
"""
    answer(bundle)
    assert python(bundle, code).split()[:2] == ["True", "False"]


def test_a_syntax_error_costs_its_own_module_only(bundle):
    answer(bundle, text="\ndef broken(:\n")
    code = 'from selfcheck import check; print(check("masks.causal_mask")); print(check("scores.dot_scores"))'
    said = python(bundle, code)
    assert "cannot be imported: SyntaxError" in said
    assert "3.3" in said and "not started yet" in said


def test_hints_come_one_at_a_time_and_are_remembered(bundle):
    code = 'from selfcheck import hint; print(hint("masks.causal_mask"))'
    said = [python(bundle, code) for _ in range(4)]
    assert "hint 1 of 3" in said[0] and "hint 2 of 3" in said[1] and "hint 3 of 3" in said[2]
    assert said[3] == said[0]


def test_an_unknown_name_gets_the_nearest_ones(bundle):
    said = python(bundle, ["-m", "selfcheck", "masks.casual_mask"], expect=2)
    assert "masks.causal_mask" in said


def test_edit_opens_colabs_pane_and_names_the_path_elsewhere(bundle):
    assert "masks.py" in python(bundle, 'from selfcheck import edit; print(edit("masks.causal_mask"))')
    colab = """
import sys, types
module = types.ModuleType("google.colab")
module.files = types.SimpleNamespace(view=lambda path: print("opened", path))
sys.modules["google.colab"] = module
from selfcheck import edit
print(edit("masks")._repr_html_())
"""
    opened, link = python(bundle, colab).splitlines()
    assert opened == f"opened {bundle / 'attention' / 'masks.py'}" and link == "None"


def test_edit_links_to_the_file_from_the_notebooks_own_folder(bundle):
    (bundle / "book" / "notebooks").mkdir(parents=True)
    code = 'from selfcheck import edit; print(edit("masks")._repr_html_())'
    assert 'href="attention/masks.py"' in python(bundle, code)
    below = f"import os, sys; sys.path.insert(0, {str(bundle)!r}); os.chdir('book/notebooks'); " + code
    assert 'href="../../attention/masks.py"' in python(bundle, below)


def test_reload_forgets_the_old_text(bundle):
    code = """
import attention, sys
attention.masks
from selfcheck import reload
reload()
print("attention" in sys.modules)
"""
    assert python(bundle, code).splitlines()[-1] == "False"


def test_pack_makes_a_zip_with_modules_and_notebook(bundle):
    (bundle / "ps3.ipynb").write_text(json.dumps({"cells": []}))
    assert "packed" in python(bundle, 'from selfcheck import pack; pack("ps3")')
    with zipfile.ZipFile(bundle / "ps3.zip") as archive:
        names = set(archive.namelist())
    assert {"attention/masks.py", "attention/dot_product.py", "ps3.ipynb"} <= names


COLAB = """
import sys, types
sys.modules["google.colab"] = types.ModuleType("google.colab")
asked = sys.modules["google.colab._message"] = types.ModuleType("google.colab._message")
asked.blocking_request = lambda what, **_: {"ipynb": {"cells": [{"source": ["answered\\n", %r]}]}}
from selfcheck import pack
pack("ps3")
"""


def test_on_colab_pack_takes_the_notebook_that_is_open(bundle):
    (bundle / "ps3.ipynb").write_text("the untouched one, which the course brought")
    assert "and ps3.ipynb" in python(bundle, COLAB % 'pack("ps3")')
    with zipfile.ZipFile(bundle / "ps3.zip") as archive:
        assert b"answered" in archive.read("ps3.ipynb")


def test_on_colab_pack_takes_no_other_notebook(bundle):
    (bundle / "ps3.ipynb").write_text("the untouched one, which the course brought")
    assert "no ps3.ipynb found" in python(bundle, COLAB % 'pack("ps4")')


def test_pack_says_what_is_missing(bundle):
    (bundle / "attention" / "masks.py").unlink()
    code = 'from selfcheck import pack\ntry: pack("ps3")\nexcept FileNotFoundError as error: print(error)'
    assert "masks.py is missing" in python(bundle, code)


def test_the_terminal_shows_progress_and_the_next_exercise(bundle):
    answer(bundle)
    said = python(bundle, ["-m", "selfcheck"])
    released = [exercise for exercise in exercises() if exercise.problem_set in ("ps1", "ps2", "ps3")]
    assert f"1 of {len(released)} exercises pass" in said
    assert "Next: 2.1" in said and "python -m selfcheck 2.1" in said


def test_the_terminal_checks_one_module(bundle):
    said = python(bundle, ["-m", "selfcheck", "masks"], expect=1)
    assert "4.1" in said and "4.7" in said and "2.1" not in said


def test_the_terminal_speaks_where_the_marks_are_unknown(bundle):
    answer(bundle)
    said = python(bundle, ["-m", "selfcheck", "4.2"], PYTHONIOENCODING="cp1252")
    assert "? the future is hidden" in said


def test_an_older_python_is_named(bundle):
    code = """
import sys
sys.version_info, sys.version = (3, 9, 6), "3.9.6 (default)"
try: import selfcheck
except ImportError as error: print(error)
"""
    assert "needs Python 3.11 or later, and this is 3.9.6" in python(bundle, code)


def test_watch_checks_again_on_every_save(bundle):
    code = f"""
import time
from rich.console import Console
from selfcheck.catalogue import exercises
from selfcheck.learner import available
from selfcheck.watch import Watch
def save(seconds):
    with open("attention/masks.py", "a") as file:
        file.write({RIGHT_MASK!r})
time.sleep = save  # it is while they wait for the next look that people write
Watch(Console(), available(exercises())).run(looks=1)
"""
    said = python(bundle, code)
    assert "✓ 4.2 causal_mask" in said and "1 of 18 exercises pass every visible check" in said


def test_under_nbgraders_validate_a_check_returns_points(bundle):
    answer(bundle)
    code = 'from selfcheck import check; print(check("masks.causal_mask"), check("masks.padding_mask"))'
    most = next(exercise.max_points for exercise in exercises() if exercise.id == "masks.causal_mask")
    assert python(bundle, code, NBGRADER_EXECUTION="validate").splitlines()[-1] == f"{float(most)} 0.0"


def test_a_function_of_the_notebook_with_an_exercises_name_is_noticed_once(bundle):
    code = """
from selfcheck import check
def causal_mask(query_length, key_length=None, device=None): ...
check("masks")
check("padding_mask")
from attention.masks import causal_mask
check("causal_mask")
"""
    said = "you defined causal_mask in this notebook; the check reads attention/masks.py"
    assert python(bundle, code).count(said) == 1


def test_a_pipe_gets_whole_lines_unless_it_says_how_wide_they_are(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert commands._console().width == commands.LONGEST
    monkeypatch.setenv("COLUMNS", "60")
    assert commands._console().width == 60


def test_progress_is_a_bar_for_each_problem_set_and_the_next_exercise(bundle):
    said = python(bundle, 'from selfcheck import progress\nprint(progress("ps1"), progress("ps1")._repr_html_())')
    assert "ps1   ░░░░░░░░░░░░░░░░░░░░ 0 of 5" in said and "Next: 2.1 Queries" in said
    assert 'aria-label="ps1: 0 of 5 pass"' in said
