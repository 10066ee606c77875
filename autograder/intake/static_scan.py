"""Scans sources for what no exercise needs. The instructor is told of it; it never affects points.

Code that attacks the grader has to name what it reaches for: the interpreter's frames, the insides of other modules,
processes, memory. Protection does not rest on this scan but on the sandbox and on the comparison outside it.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator

from selfcheck.catalogue import exercises
from selfcheck.reach import named_by_detour
from selfcheck.source import PLAIN_ENCODINGS, dotted_name, encoding_of, imports_of, parse, text_of, too_deep

from ..build.stubs import all_stubs

MOST = 5  # lines told of one module
#: What is reached for → modules whose use reaches for it.
MODULES = {
    "the interpreter's insides": "gc inspect dis opcode builtins importlib imp pkgutil runpy site zipimport "
    "weakref traceback linecache faulthandler tracemalloc codeop code ast symtable",
    "processes and threads": "os subprocess multiprocessing threading _thread signal asyncio concurrent pty atexit "
    "sched resource psutil",
    "memory as it lies there": "ctypes mmap cffi _ctypes",
    "files": "pathlib shutil tempfile io glob fileinput pickle shelve marshal sqlite3 zipfile tarfile",
    "the network": "socket ssl http urllib ftplib smtplib requests select selectors",
    "the course's own tools": "selfcheck autograder nbgrader IPython ipykernel __main__",
}
#: What is reached for → names whose use, with or without a dot before them, reaches for it.
NAMES = {
    "the interpreter's insides": "sys.modules sys.meta_path sys.path_hooks sys.setrecursionlimit sys._current_frames "
    "_getframe f_locals f_globals f_back tb_frame gi_frame settrace setprofile __subclasses__ "
    "__mro__ __globals__ __builtins__ __code__ __closure__ __import__ __loader__ __spec__ get_objects get_referrers",
    "objects that pretend": "__eq__ __torch_function__ __torch_dispatch__ __array__ __array_ufunc__ __array_function__ "
    "__class__ __del__ __instancecheck__ __reduce__",
    "memory as it lies there": "as_strided data_ptr from_blob frombuffer untyped_storage set_",
}
#: Built-ins that are odd as plain names, for many an object has a method of that name: model.eval().
BUILTINS = {
    "code made from text": "exec eval compile",
    "files": "open",
    "names looked up while it runs": "globals locals vars",
    "the keyboard": "input breakpoint",
}
#: Odd where a call is forbidden, which could be hidden behind a name made up while it runs, or a name of the insides.
LOOKUPS = {
    "names looked up while it runs": "__dict__ __getattribute__ __getattr__ attrgetter methodcaller "
    "torch.ops torch._C torch.classes torch.library torch.jit.CompilationUnit",
}
#: Names under which a submitted module would be something else than it seems.
SHADOWS = sys.stdlib_module_names | {"torch", "numpy", "pytest", "conftest", "sitecustomize", "usercustomize"}


def _by_word(table: dict[str, str]) -> dict[str, str]:
    return {word: reached for reached, words in table.items() for word in words.split()}


_MODULES, _NAMES, _BUILTINS = _by_word(MODULES), _by_word(NAMES), _by_word(BUILTINS)
_LOOKUPS = _by_word(LOOKUPS)
_given = functools.cache(all_stubs)


def prepare() -> None:
    """Read what was handed out, before it is compared with anything."""
    for name, given in _given().items():
        _handed_out(given, any(_forbidden().get(name.removesuffix(".py"), {}).values()))


def scan_file(name: str, data: bytes) -> tuple[str, ...]:
    """Lines for the instructor on one module of a submitted package."""
    module, given, found = name.removesuffix(".py"), _given().get(name, ""), []
    if module in SHADOWS:
        found.append(f"{name} has the name of a package that it is not")
    if data != given.encode():
        text, encoding = text_of(data), encoding_of(data)
        if encoding not in PLAIN_ENCODINGS:
            found.append(f"{name} is written in {encoding}: Python reads something else than what stands there")
        if too_deep(text):
            found.append(f"{name} is nested too deep to be read here: nothing in it was looked at")
        found += scan_module(module, text, given)
    return tuple(found)


@functools.cache
def _forbidden() -> dict[str, dict[str, list[str]]]:
    """What each exercise must not reach, by its module and its function."""
    found: dict[str, dict[str, list[str]]] = {}
    for exercise in exercises():
        found.setdefault(exercise.module, {}).setdefault(exercise.symbol, []).extend(exercise.forbidden)
    return found


def scan_module(module: str, source: str, given: str) -> list[str]:
    """Lines for the instructor, each with the place of what is odd in a module's text.

    given: the text that was handed out: what is named there too is not the learner's
    """
    tree = parse(source)
    if tree is None:
        return []
    forbidden = _forbidden().get(module, {})
    forbids = any(forbidden.values())  # a call, which could hide behind a name made up while it runs
    handed_out = _handed_out(given, forbids)
    places: dict[tuple[str, str], int] = {}
    for line, what, reached in _found(tree, forbids):
        if what not in handed_out:
            places.setdefault((what, reached), line)
    for line, what in named_by_detour(tree, forbidden):
        places.setdefault((what, "named as what is forbidden here"), line)
    lines = [f"{module}.py line {line} uses {what}: {reached}" for (what, reached), line in places.items()]
    more = [f"{module}.py uses {len(lines) - MOST} more things like these"] if len(lines) > MOST else []
    return lines[:MOST] + more


@functools.cache
def _handed_out(given: str, forbids: bool) -> set[str]:
    return {what for _, what, _ in _found(parse(given) or ast.Module([], []), forbids)}


def _found(tree: ast.Module, forbids: bool) -> Iterator[tuple[int, str, str]]:
    """Line, what is used, and what it reaches for."""
    nodes = list(ast.walk(tree))
    aliases = imports_of(nodes)
    modules = {name.lstrip(".").partition(".")[0] for name in aliases.values()}
    lookups = ("getattr", "vars") if forbids else ()
    names = _NAMES | _LOOKUPS if forbids else _NAMES
    for node in nodes:
        line = getattr(node, "lineno", 0)
        for imported in _imported(node):
            if imported.partition(".")[0] in _MODULES:
                yield line, imported, _MODULES[imported.partition(".")[0]]
        name = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
        if isinstance(name, str) and name in names:
            yield line, name, names[name]
        if isinstance(node, ast.Name) and node.id in _BUILTINS and node.id not in aliases:
            yield line, node.id, _BUILTINS[node.id]
        dotted = dotted_name(node, aliases) if isinstance(node, (ast.Attribute, ast.Name)) else None
        if dotted in names:
            yield line, dotted, names[dotted]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            owner, does = dotted_name(node.args[0], aliases), node.func.id
            if owner and does in ("setattr", "delattr", *lookups) and owner.partition(".")[0] in modules:
                yield line, f"{does}({owner}, …)", "names looked up while it runs"
            elif forbids and does == "getattr" and owner != "self" and not isinstance(node.args[-1], ast.Constant):
                yield line, "getattr(…)", "names looked up while it runs"
        for target in _targets(node):
            if not isinstance(target, ast.Attribute):
                continue
            module, root = dotted_name(target.value, aliases), _root(target)
            if module and isinstance(root, ast.Name) and root.id in aliases:
                yield line, f"{module}.{target.attr} = …", "other modules' insides"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []


def _root(node: ast.AST) -> ast.AST:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
