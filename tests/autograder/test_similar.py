"""Code that is alike is found whatever it is called and however it is laid out; honest answers are left in peace."""

import ast
import itertools
import re

import pytest

from autograder.build import stubs
from autograder.course.paths import REFERENCE, ROOT
from autograder.report import normal_form, similar
from selfcheck.catalogue import exercises

from .honest_answers import ANSWERS, module

REFERENCE_TEXT = (REFERENCE / "worked_example.py").read_text(encoding="utf-8")
STUB = stubs.all_stubs()["worked_example.py"]
LONG = module(ANSWERS["long"])


def compared(texts, name="worked_example"):
    """What is found among learners' modules: texts by learner."""
    data = {student: text.encode() if isinstance(text, str) else text for student, text in texts.items()}
    return similar.similarities(data, [name], lambda student: {f"{name}.py": data[student]})


def renamed(text):
    """Every name that the module gives, another one; the structure stays."""

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.Name(f"my_{node.id}", node.ctx) if node.id in given else node

        def visit_arg(self, node):
            return ast.arg(f"my_{node.arg}") if node.arg in given else node

        def visit_FunctionDef(self, node):
            self.generic_visit(node)
            node.name = f"my_{node.name}"
            return node

    tree = ast.parse(text)
    given = normal_form._given(tree).names
    return ast.unparse(Renamed().visit(tree))


def with_comments(text):
    return re.sub(r"\n( +)(return|if|for) ", r"\n\1# I wrote this myself\n\n\1\2 ", text)


def with_other_docstrings(text):
    return text.replace('"""', '"""My own words. ', 1).replace("Returns", "This function is said to return")


def functions_turned_round(text):
    tree = ast.parse(text)
    tree.body.reverse()
    return ast.unparse(tree)


def with_annotations(text):
    return text.replace("scores(queries, keys):", "scores(queries: list, keys: list) -> list:").replace(
        "    ex = ", "    ex: np.ndarray = "
    )


DISGUISES = (renamed, with_comments, with_other_docstrings, functions_turned_round, with_annotations, ast.unparse)


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda one: one.__name__)
def test_a_disguise_makes_no_difference(disguise):
    other = disguise(ast.parse(LONG) if disguise is ast.unparse else LONG)
    assert other != LONG
    (group,) = compared({"ana": LONG, "ben": other}).groups
    assert group == similar.Group("worked_example", ("ana", "ben"), 1.0)


def test_a_few_changed_lines_leave_it_alike():
    other = LONG.replace("s[s == 0] = 1", "s = np.where(s == 0, 1, s)").replace(
        "np.array(keys).shape[1]", "len(keys[0])"
    )
    (group,) = compared({"ana": LONG, "ben": renamed(other), "eve": module(ANSWERS["dot"])}).groups
    assert group.students == ("ana", "ben") and similar.ALIKE <= group.share < 1


def test_honest_answers_to_the_same_exercises_are_not_alike():
    assert compared({name: module(answers) for name, answers in ANSWERS.items()}).groups == ()


def alternatives(path):
    """The right answers of a file in tests/alternatives, by exercise: the text of each."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.decorator_list:
            exercise = ast.unparse(node.decorator_list[0])
            node.decorator_list = []
            found.setdefault(exercise, []).append(ast.unparse(node))
    return found


def test_other_right_answers_to_one_exercise_are_not_alike():
    modules = {exercise.module for exercise in exercises()}
    pairs = 0
    for path in sorted((ROOT / "tests" / "alternatives").glob("*.py")):
        name = path.stem if path.stem in modules else "worked_example"  # whose reference does not count
        for texts in alternatives(path).values():
            found = compared(dict(zip(map(str, range(len(texts))), texts, strict=False)), name)
            assert found.groups == (), f"{path.name}: {found.groups}"
            pairs += len(list(itertools.combinations(texts, 2)))
    assert pairs > 200


def test_stubs_and_the_reference_are_nobodys_own():
    found = compared({"ana": STUB, "ben": STUB, "eve": REFERENCE_TEXT, "ida": renamed(REFERENCE_TEXT)})
    assert found.groups == ()
    assert found.published == (("worked_example", ("eve", "ida")),)


def test_short_answers_that_everybody_writes_are_not_alike():
    text = module({"2.2": "return np.asarray(queries) @ np.asarray(keys).T", "2.4": ANSWERS["short"]["2.4"]})
    assert compared({"ana": text, "ben": text}).groups == ()


def test_what_many_share_is_common_and_what_is_the_same_is_found_all_the_same():
    """A passage of one half of the class connects nobody; three who have handed in one text are found."""
    texts = {}
    for number in range(40):
        answers = dict(ANSWERS["long"] if number % 2 else ANSWERS["dot"])
        own = "\n".join(f"v{step} = [{number} * {step}, len(range({number + step})), {{}}]" for step in range(9))
        answers["2.2"] = f"{own}\n{ANSWERS['long']['2.2'].strip()}".replace("            ", "")
        texts[f"s{number:02}"] = module(answers)
    assert compared(texts).groups == ()
    texts["s41"] = texts["s43"] = texts["s07"]
    (group,) = compared(texts).groups
    assert group.students == ("s07", "s41", "s43") and group.share == 1


def test_a_class_is_not_compared_pair_by_pair(monkeypatch):
    """What more learners share than count as few leads to nobody."""
    monkeypatch.setattr(similar, "ALIKE", 0.0)
    monkeypatch.setattr(similar, "LEAST", 1)

    def pairs(common):
        found = similar._Class("worked_example", common)
        for number in range(30):
            own = f"def extra(x):\n    return {number} + x * {number} - {number} / x + {number} ** x * {number} % x\n"
            found.take(f"s{number}", similar.normal_form(LONG + own))
        assert len(found.prints) == 30, "each is another module"
        return len(list(found._pairs()))

    assert pairs(common=30) == 30 * 29 / 2, "here everybody shares something with everybody"
    assert pairs(common=10) == 0


@pytest.mark.parametrize(
    "text",
    [
        "def broken(:\n",
        LONG + "#" * similar.MOST_READ,
        b"\xff\xfe\x00not Python",
        "x = " + "(" * 2000 + ")" * 2000,
    ],
    ids=["broken", "too long", "bytes", "deep"],
)
def test_what_cannot_be_read_is_named_and_harms_nobody(text):
    found = compared({"ana": LONG, "ben": renamed(LONG), "eve": text})
    assert found.unread == ("eve",)
    assert [group.students for group in found.groups] == [("ana", "ben")]


@pytest.mark.parametrize("text", ["x = 0x" + "f" * 9000, "x = " + "-" * 500 + "1", "x = 1" + " + 1" * 500, ""])
def test_odd_modules_are_read(text):
    assert compared({"eve": text}).unread == ()


def test_a_module_that_is_missing_is_no_trouble():
    found = similar.similarities(["ana", "ben"], ["worked_example", "scores"], lambda student: {})
    assert found.groups == () and found.unread == ()


def test_the_order_of_the_class_does_not_matter():
    texts = {"ana": LONG, "ben": renamed(LONG), "eve": LONG.replace("s[s == 0] = 1", "s = np.where(s == 0, 1, s)")}
    turned = dict(reversed(texts.items()))
    assert compared(texts) == compared(turned)
