"""What is generated is fresh, and building never takes a learner's work."""

import json
import re
import subprocess
import sys

import pytest

from autograder.build import generate, recorded_answers, solution_marks, stubs
from autograder.course.paths import REFERENCE, ROOT
from selfcheck import arrays
from selfcheck.untouched import digest_of


@pytest.mark.proof(depends=("solutions/attention", "solutions/benchmarks/*.py", "src", "book", "autograder"))
def test_everything_generated_but_the_recorded_answers_is_up_to_date():
    assert generate.stale(recorded=False) == []


def test_a_stale_file_is_named_with_the_command_that_mends_it(monkeypatch):
    from click.testing import CliRunner

    from autograder.__main__ import main

    monkeypatch.setattr(generate, "products", lambda _: [("stubs", {ROOT / "src" / "attention" / "nowhere.py": "x"})])
    done = CliRunner().invoke(main, ["build", "--check"])
    assert done.exit_code == 1
    assert "nowhere.py is missing" in done.output and "python -m autograder build" in done.output


def test_what_a_check_does_not_compare_is_not_recorded():
    table = json.loads((ROOT / "src" / "selfcheck" / "recorded" / "multi_head.json").read_text(encoding="utf-8"))
    assert "parameters" in table["mha_parameters"]["expected"][0]
    assert set(table["mha_one_token"]["expected"][0]) == {"value", "changed"}
    assert "states" not in table["load_copies"]["expected"][0] and "lost" not in table["load_biases"]["expected"][0]


def packed(values, dtype="float64", at="expected"):
    answers = [{"value": arrays.pack(arrays.array(values, "tensor", dtype))}]
    return json.dumps({"a_check": {at: answers if at == "expected" else {"a_name": answers}}})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (packed([1.0, 2.0]), packed([1.0, 2.0 + 4e-16]), True),
        (packed([1.0, 2.0]), packed([1.0, 2.0 + 1e-9]), False),
        (packed([1.0], "float32"), packed([1.0000001], "float32"), True),
        (packed([1.0], "float32"), packed([1.001], "float32"), False),
        (packed([1.0], "float32"), packed([1.0]), False),
        (packed([0.41] * 200, at="misconceptions"), packed([0.4] * 2 + [0.41] * 198, at="misconceptions"), True),
        (packed([0.41] * 200, at="misconceptions"), packed([0.4] * 3 + [0.41] * 197, at="misconceptions"), False),
        (packed([0.41] * 200), packed([0.4] + [0.41] * 199), False),
        (packed([1.0, 2.0]), packed([[1.0], [2.0]]), False),
        (packed([1, 2], "int64"), packed([1, 3], "int64"), False),
        (json.dumps({"text": "a"}), json.dumps({"text": "b"}), False),
        (json.dumps({"a_check": 1}), json.dumps({"another": 1}), False),
        ("no JSON", json.dumps([]), False),
    ],
)
def test_recorded_answers_may_differ_by_the_rounding_of_another_machine_and_no_more(one, other, same):
    assert recorded_answers.alike(one, other) == same


def taught(values, rate):
    value = arrays.pack(arrays.array(values, "tensor", "float32"))
    calls = [{"lessons": {"target": arrays.pack(arrays.array([rate], "tensor")), "steps": 5}}]
    return json.dumps({"a_check": {"calls": calls, "expected": [{"value": value}]}})


def test_of_a_model_that_was_trained_only_the_form_of_an_answer_must_be_the_recorded_one():
    assert recorded_answers.alike(taught([1.0], 0.1), taught([1.01], 0.1))
    assert not recorded_answers.alike(taught([1.0], 0.1), taught([1.0, 1.0], 0.1))
    assert not recorded_answers.alike(taught([1.0], 0.1), taught([1.0], 0.2))  # the lessons are recorded exactly


def test_an_edited_stub_is_never_overwritten(tmp_path):
    folder = tmp_path / "attention"
    assert stubs.write_stubs(folder) == []
    path = folder / "masks.py"
    mine = path.read_text() + "\nmine = 1\n"
    path.write_text(mine)
    assert stubs.write_stubs(folder) == [path]
    assert path.read_text() == mine


def test_the_first_line_says_whether_there_is_something_to_write():
    made = stubs.all_stubs()
    assert made["masks.py"].startswith("# Generated: write your answers where it raises NotImplementedError.")
    assert made["_arguments.py"].startswith("# Generated: given, with nothing to write in it.")


def test_an_outdated_stub_that_nobody_edited_is_brought_up_to_date(tmp_path):
    stubs.write_stubs(tmp_path)
    path = tmp_path / "masks.py"
    old = "x = 1\n"
    path.write_text(f"{stubs.HEADER}{digest_of(old.encode())}\n{old}")
    assert stubs.write_stubs(tmp_path) == []
    assert path.read_text() == stubs.stub(REFERENCE / "masks.py")


HANDED_OUT = [REFERENCE / name for name in sorted(stubs.all_stubs())]


@pytest.mark.parametrize("path", HANDED_OUT, ids=lambda path: path.name)
def test_a_stub_keeps_signatures_and_docstrings_and_gives_no_solution_away(path):
    import ast

    def outline(text):
        public = [node for node in ast.parse(text).body if not getattr(node, "name", "_").startswith("_")]
        inside = [node for one in public if isinstance(one, ast.ClassDef) for node in one.body]
        methods = [node for node in inside if re.fullmatch("__init__|[a-z].*", getattr(node, "name", ""))]
        return [
            (node.name, ast.unparse(getattr(node, "args", node.body[0])), ast.get_docstring(node))
            for node in public + methods
        ]

    text = stubs.stub(path)
    assert outline(text) == outline(path.read_text())
    assert "# solution" not in text


def test_private_files_that_are_solutions_are_no_stubs_and_come_with_the_modules_that_import_them():
    assert stubs.solution_files() == ["_blockwise.py", "_decoder_parts.py", "_embedding.py", "_whole.py"]
    assert not {*stubs.solution_files()} & ({*stubs.all_stubs()} | {*stubs.given_files()})
    assert {*stubs.all_stubs()} | {*stubs.solution_files()} == {path.name for path in REFERENCE.glob("*.py")}
    efficient = REFERENCE / "efficient.py"
    assert stubs.solution_files_of([stubs.stub(efficient)]) == {}
    solved = stubs.solution_files_of([efficient.read_text()])
    assert solved == {name: (REFERENCE / name).read_text() for name in ("_blockwise.py", "_whole.py")}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def causal_mask():\n    # solution: begin\n    pass\n", "not closed"),
        ("# solution: end\n", "closed twice"),
        ("def f():\n    # solution: begin\n    pass\n    # solution: end\n", "belongs to no exercise"),
    ],
)
def test_a_region_that_is_marked_wrongly_is_refused(source, complaint):
    with pytest.raises(ValueError, match=complaint):
        stubs.strip(source, "masks")


def test_a_mark_with_a_slip_of_the_pen_is_refused_and_not_taken_for_a_comment():
    with pytest.raises(ValueError, match=r"line 2: expected a mark `# solution: begin \(drop\)`, got .*\(dorp\)"):
        solution_marks.regions("import math\n# solution: begin (dorp)\nx = 1\n# solution: end\n")


def test_an_excerpt_shows_no_part_of_a_solution_whose_marks_are_cut_off():
    begin, end = "    # solution: begin\n", "    # solution: end\n"
    shown = "    ...  # yours to write\n"
    assert solution_marks.without_solutions(f"a\n{begin}    secret\n{end}b\n") == f"a\n{shown}b\n"
    assert solution_marks.without_solutions(f"a\n{begin}    secret\n") == f"a\n{shown}"
    assert solution_marks.without_solutions(f"    secret\n{end}b\n") == f"{shown}b\n"
    assert solution_marks.without_marks(f"    known\n{end}b\n") == "    known\nb\n"


def test_comments_for_tools_are_left_out_and_others_stay():
    source = "l = 0  # noqa: E741\nf(a,\n  b)  # fmt: skip\nx = 1  # type: ignore[assignment]\ny = 2  # (L, S)\n"
    assert solution_marks.without_tool_comments(source) == "l = 0\nf(a,\n  b)\nx = 1\ny = 2  # (L, S)\n"


@pytest.mark.parametrize("path", HANDED_OUT, ids=lambda path: path.name)
def test_a_book_without_solutions_hides_what_a_stub_leaves_out(path):
    source = path.read_text()
    hidden = solution_marks.without_solutions(source).splitlines()
    stub_lines = set(stubs.strip(source, path.stem).splitlines())
    assert {line for line in hidden if "yours to write" not in line} <= stub_lines


def test_the_stubs_of_one_module_import_while_another_is_broken(tmp_path):
    stubs.write_stubs(tmp_path / "attention")
    (tmp_path / "attention" / "scores.py").write_text("def broken(:\n")
    code = "import attention; attention.masks\ntry: attention.scores\nexcept SyntaxError: print('only this')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == "only this", done.stderr
