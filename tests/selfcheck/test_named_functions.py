"""What a library has under forbidden names is found, looked up once, and found anew where more is imported."""

import importlib
import sys

import pytest

from selfcheck import call_watch, named_functions, overrides, replaced_code
from selfcheck.named_functions import functions_named, operators_named

pytest.importorskip("torch")
PATTERNS = ("lib_of_names.soft*", "lib_of_names.deep.soft*")


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "lib_of_names").mkdir()
    for name, function in (("__init__", "softmax"), ("deep", "softmin"), ("later", "softplus")):
        (tmp_path / "lib_of_names" / f"{name}.py").write_text(f"def {function}(x):\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("lib_of_names")
    for name in [one for one in sys.modules if one.startswith("lib_of_names")]:
        del sys.modules[name]


def test_what_is_imported_later_is_found_even_where_other_modules_have_gone(library):
    assert set(functions_named(PATTERNS)) == {"lib_of_names.softmax"}
    sys.modules["goes_away"] = library
    functions_named(PATTERNS)
    deep = importlib.import_module("lib_of_names.deep")
    del sys.modules["goes_away"]  # as many modules as before, and the last is another one
    assert functions_named(PATTERNS) == {
        "lib_of_names.softmax": library.softmax,
        "lib_of_names.deep.softmin": deep.softmin,
    }
    del sys.modules["lib_of_names.deep"]
    again = importlib.import_module("lib_of_names.deep")
    assert again.softmin in functions_named(PATTERNS).values()
    importlib.import_module("lib_of_names.later")
    sys.modules["lib_of_names.deep"] = sys.modules.pop("lib_of_names.deep")  # now the last, as when it was looked at
    assert "lib_of_names.later.softplus" in functions_named(("lib_of_names.*softplus",))


def test_modules_that_were_looked_at_are_not_looked_at_again(library):
    """In a forked process that would copy megabytes, for each submission."""
    functions_named(PATTERNS)
    assert named_functions._new_modules("lib_of_names") == []
    importlib.import_module("lib_of_names.deep")
    assert named_functions._new_modules("lib_of_names") == ["lib_of_names.deep"]


def test_a_look_from_within_an_import_has_none_of_the_others_looked_at_again(library, tmp_path):
    """Python puts a module behind all others when its import ends, those that it has imported itself among them."""
    (tmp_path / "lib_of_names" / "outer.py").write_text(
        "import lib_of_names.deep\nfrom selfcheck.named_functions import functions_named\n"
        f"functions_named({PATTERNS})\n"
    )
    functions_named(PATTERNS)
    importlib.import_module("lib_of_names.outer")
    assert set(named_functions._new_modules("lib_of_names")) == {"lib_of_names.deep", "lib_of_names.outer"}
    importlib.import_module("lib_of_names.later")
    assert named_functions._new_modules("lib_of_names") == ["lib_of_names.later"]
    assert "lib_of_names.deep.softmin" in functions_named(PATTERNS)


def test_what_one_package_brings_has_none_of_another_looked_up_again(library):
    functions_named(("lib_of_names.deep.soft*", "torch.*softmax"))
    of_torch = named_functions._found["torch.*softmax"]
    importlib.import_module("lib_of_names.deep")
    assert "lib_of_names.deep.softmin" in functions_named(("lib_of_names.deep.soft*", "torch.*softmax"))
    assert named_functions._found["torch.*softmax"] is of_torch


def test_a_prepared_watch_looks_nothing_up():
    patterns = ("torch.*softmax", "torch.*layer_norm", "torch.*MultiheadAttention")
    overrides.prepare(patterns)
    looked_up = (replaced_code._template, overrides._keys_of, named_functions._operators_under)
    before, names = [one.cache_info().misses for one in looked_up], dict(named_functions._found)
    for _ in range(2):
        with call_watch.watching(patterns[:2]):
            pass
    assert [one.cache_info().misses for one in looked_up] == before
    assert all(named_functions._found[one] is names[one] for one in patterns[:2])
    assert operators_named(patterns)
