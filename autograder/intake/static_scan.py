"""Scans sources for what no exercise needs. The instructor is told of it; it never affects points.

Code that attacks the grader has to name what it reaches for: the interpreter's frames, the insides of other modules,
processes, memory. Protection does not rest on this scan but on the sandbox and on the comparison outside it.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator, Mapping

from selfcheck.bindings import root_of
from selfcheck.source import (
    PLAIN_ENCODINGS,
    dotted_name,
    encoding_of,
    imported_modules,
    imports_of,
    nodes_of,
    of_bounded_length,
    parse,
    text_of,
    too_deep,
)

from ..build.stubs import all_stubs
from ..course.printable import printable_name

MOST = 5  # lines told of one module
#: What is reached for → modules whose use reaches for it.
MODULES = {
    "the interpreter's insides": "gc inspect dis opcode builtins importlib imp pkgutil runpy site zipimport "
    "weakref traceback linecache faulthandler tracemalloc codeop code ast symtable",
    "processes and threads": "os posix nt subprocess multiprocessing threading _thread signal asyncio concurrent pty "
    "atexit sched resource psutil _posixsubprocess",
    "memory as it lies there": "ctypes mmap cffi _ctypes",
    "files": "pathlib shutil tempfile io glob fileinput pickle shelve marshal sqlite3 zipfile tarfile",
    "the network": "socket ssl http urllib ftplib smtplib requests select selectors",
    "the course's own tools": "selfcheck autograder nbgrader IPython ipykernel __main__",
    "code made from text": "timeit doctest cProfile profile trace pdb bdb pydoc logging.config unittest.mock",
}
#: What numerical code may import; whatever else is imported is told, for nobody can list what it may be used for.
PLAIN_MODULES = (
    "__future__ abc array attention bisect cmath collections contextlib copy dataclasses decimal enum fractions "
    "functools heapq itertools json logging math numbers numpy operator pprint queue random re scipy statistics "
    "string sys textwrap time torch types typing typing_extensions unittest uuid warnings"
)
OTHER = "what no exercise needs"
#: Of `sys`, what prints, or says something about numbers and this Python.
PLAIN_SYS = {
    "stdout",
    "stderr",
    "float_info",
    "int_info",
    "maxsize",
    "byteorder",
    "version_info",
    "version",
    "platform",
}
#: Words of MODULES that are also attributes of arrays, tensors, torch or NumPy, where they mean something else.
OWN_WORDS = {"select", "signal", "code", "trace", "io", "profile", "site", "resource", "glob", "http"}
#: What torch and NumPy mean by such words publicly; wherever else the words stand in them, they are the modules.
PUBLIC = {
    *("torch.select", "torch.signal", "torch.trace", "torch.jit.trace", "torch.profiler.profile", "numpy.select"),
    *("torch.autograd.profiler.profile", "torch.linalg.trace", "numpy.trace", "numpy.linalg.trace"),
}
#: Modules that torch and NumPy hold under another name.
RENAMED = {"mp": "multiprocessing", "python_multiprocessing": "multiprocessing", "mock": "unittest.mock"}
#: What is reached for → names whose use, with or without a dot before them, reaches for it.
NAMES = {
    "the interpreter's insides": "sys.modules sys.meta_path sys.path_hooks sys.setrecursionlimit sys._current_frames "
    "_getframe f_locals f_globals f_back tb_frame gi_frame settrace setprofile __subclasses__ "
    "__mro__ __globals__ __builtins__ __code__ __closure__ __import__ __loader__ __spec__ get_objects get_referrers "
    "__bases__ __base__ __wrapped__ types.FunctionType types.CodeType torch.overrides torch._dynamo torch._inductor",
    "objects that pretend": "__eq__ __ne__ __bool__ __hash__ __index__ __float__ __torch_function__ "
    "__torch_dispatch__ __array__ __array_ufunc__ __array_function__ "
    "__class__ __del__ __instancecheck__ __reduce__",
    "memory as it lies there": "as_strided data_ptr from_blob frombuffer untyped_storage set_ "
    "from_dlpack share_memory_ numpy.ctypeslib numpy.f2py",
    "files": "tofile from_file fromfile memmap torch.load torch.save torch.jit.load torch.hub torch.package numpy.load "
    "numpy.save numpy.savez numpy.savez_compressed numpy.loadtxt numpy.savetxt numpy.genfromtxt numpy.DataSource "
    "logging.FileHandler logging.handlers numpy.lib.npyio numpy.lib.format",
    "processes and threads": "torch.distributed",
    "names looked up while it runs": "__dict__ __getattribute__ __getattr__ attrgetter methodcaller get_field "
    "torch.ops torch._C torch.classes torch.library torch.jit.CompilationUnit",
    "code made from text": "get_type_hints _exec_with_source _forward_from_src torch.utils.cpp_extension "
    "torch.utils.benchmark numpy.testing",
}
#: Of torch, what is set by assigning to it.
SETTINGS = ("torch.backends.", "torch.utils.deterministic.")
#: Of these, names that honest code reads: self.__class__.__name__ stands in many a __repr__, and says what type() says.
READ = {"__class__"}
#: Built-ins that are odd as plain names, for many an object has a method of that name: model.eval().
BUILTINS = {
    "code made from text": "exec eval compile",
    "files": "open",
    "names looked up while it runs": "globals locals vars",
    "the keyboard": "input breakpoint",
}
#: Built-ins that are odd where they are no function of a call: g = getattr.
HANDED_ON = {"getattr", "setattr", "delattr", "vars", "eval", "exec", "__import__"}
#: Names under which a submitted module would be something else than it seems.
SHADOWS = sys.stdlib_module_names | {"torch", "numpy", "pytest", "conftest", "sitecustomize", "usercustomize"}


def _by_word(table: dict[str, str]) -> dict[str, str]:
    return {word: reached for reached, words in table.items() for word in words.split()}


_MODULES, _NAMES, _BUILTINS = _by_word(MODULES), _by_word(NAMES), _by_word(BUILTINS)
_PLAIN_MODULES = frozenset(PLAIN_MODULES.split())
#: Attributes that are modules wherever they stand: torch.os, self.tools.sys.
_MODULE_WORDS = {word: reached for word, reached in _MODULES.items() if "." not in word} | {
    "sys": "the interpreter's insides"
}
_MODULE_WORDS = {word: reached for word, reached in _MODULE_WORDS.items() if word not in OWN_WORDS}
#: Kinds of nodes that have a name of their own, or call, import or assign: half of a text's nodes.
_TELLING = {ast.Import, ast.ImportFrom, ast.MatchClass, ast.Call, ast.Assign, ast.AugAssign, ast.AnnAssign}.union(
    kind
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and {"attr", "id", "name"}.intersection(kind._fields)
)
_given = functools.cache(all_stubs)


def prepare() -> None:
    """Read what was handed out, before it is compared with anything."""
    for given in _given().values():
        _handed_out(given)


def scan_file(name: str, data: bytes) -> tuple[str, ...]:
    """Lines for the instructor on one module of a submitted package."""
    module, given, remarks = name.removesuffix(".py"), _given().get(name, ""), []
    if module in SHADOWS:
        remarks.append(f"{name} has the name of a package that it is not")
    if data != given.encode():
        text, encoding = text_of(data), encoding_of(data)
        if encoding not in PLAIN_ENCODINGS:
            remarks.append(f"{name} is written in {encoding}: Python reads something else than what stands there")
        if too_deep(text):
            remarks.append(f"{name} is nested too deep to be read here: nothing in it was looked at")
        remarks += scan_module(module, text, given)
    return tuple(remarks)


def scan_module(module: str, source: str, given: str) -> list[str]:
    """Lines for the instructor, each with the place of what is odd in a module's text.

    given: the text that was handed out: what is named there too is not the learner's
    """
    tree = parse(source)
    if tree is None:
        return []
    handed_out = _handed_out(given)
    places: dict[tuple[str, str], int] = {}
    for line, what, reached in _found(tree):
        if what not in handed_out:
            places.setdefault((what, reached), line)
    lines = [
        f"{module}.py line {line} uses {printable_name(what)}: {reached}" for (what, reached), line in places.items()
    ]
    more = [f"{module}.py uses {len(lines) - MOST} more things like these"] if len(lines) > MOST else []
    return lines[:MOST] + more


@functools.cache
def _handed_out(given: str) -> set[str]:
    return {what for _, what, _ in _found(parse(given) or ast.Module([], []))}


def _found(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Line, what is used, and what it reaches for."""
    nodes = nodes_of(tree)
    aliases = imports_of(nodes)
    modules = {name.partition(".")[0] for name in aliases.values()}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for_annotations = {id(one) for one in _never_imported(tree, nodes, aliases)}
    settings = {id(one) for node in nodes for one in _settings(node, aliases)}
    for node in nodes:
        if type(node) not in _TELLING:
            continue
        line = getattr(node, "lineno", 0)
        for imported in () if id(node) in for_annotations else _imported(node):
            yield from ((line, imported, reached) for reached in _reached_by_import(imported))
        own = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
        is_read = own in READ and isinstance(getattr(node, "ctx", None), ast.Load)
        if isinstance(own, str) and own in _NAMES and not is_read:
            yield line, own, _NAMES[own]
        for word in _attributes(node):
            if word in _MODULE_WORDS:
                yield line, f".{word}", _MODULE_WORDS[word]
        if isinstance(node, ast.Name) and node.id not in aliases:
            if node.id in _BUILTINS:
                yield line, node.id, _BUILTINS[node.id]
            elif node.id in HANDED_ON and id(node) not in called:
                yield line, f"{node.id} under another name", "names looked up while it runs"
        dotted = dotted_name(node, aliases) if isinstance(node, (ast.Attribute, ast.Name)) else None
        if dotted in _NAMES and dotted != own:
            yield line, dotted, _NAMES[dotted]
        if dotted and dotted.startswith("sys.") and dotted.split(".")[1] not in PLAIN_SYS:
            yield line, dotted, "the interpreter's insides"
        if dotted and dotted.startswith(("torch.", "numpy.")) and dotted not in PUBLIC:
            word = dotted.rpartition(".")[2]
            word = RENAMED.get(word, word)
            if word in OWN_WORDS or word in RENAMED.values():
                yield line, dotted, _MODULES[word]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            yield from _lookup(node, node.func.id, aliases, modules)
        if isinstance(node, ast.Attribute) and root_of(node) in aliases:
            module = dotted_name(node.value, aliases)
            if not module:
                continue
            if not isinstance(node.ctx, ast.Load) and id(node) not in settings:
                yield line, f"{module}.{node.attr} = …", "other modules' insides"
            elif node.attr.startswith("_") and (word := node.attr.strip("_")) in _MODULE_WORDS:
                yield line, f"{module}.{node.attr}", _MODULE_WORDS[word]


def _never_imported(tree: ast.Module, nodes: list[ast.AST], aliases: dict[str, str]) -> list[ast.stmt]:
    """Imports of packages below `if TYPE_CHECKING:`, which annotations name and no program runs.

    Python's own modules are told there too, and all where something else may bear that name.
    """
    bound = {getattr(node, "name", None) for node in nodes if not isinstance(node, ast.alias)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    found: list[ast.stmt] = []
    for block in tree.body:
        if isinstance(block, ast.If) and dotted_name(block.test, aliases) == "typing.TYPE_CHECKING":
            is_typings = root_of(block.test) not in bound and "*" not in aliases
            found += [one for one in block.body if is_typings and _is_of_packages(one)]
    return found


def _is_of_packages(node: ast.stmt) -> bool:
    names = _imported(node)
    return all(OTHER in _reached_by_import(name) for name in names) and not any(
        name.partition(".")[0] in sys.stdlib_module_names for name in names
    )


def _settings(node: ast.AST, aliases: dict[str, str]) -> list[ast.expr]:
    """What an assignment sets of SETTINGS: torch.backends.cudnn.benchmark = False. A number pretends nothing."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
        return []
    return [one for one in node.targets if (dotted_name(one, aliases) or "").startswith(SETTINGS)]


def _reached_by_import(name: str) -> list[str]:
    """What an import reaches for, by the name of the module, or of something in it."""
    parts = name.split(".")
    prefixes = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    known = [_MODULES[prefix] for prefix in prefixes if prefix in _MODULES] + [
        _NAMES[prefix] for prefix in prefixes if prefix in _NAMES
    ]
    known += [_MODULE_WORDS[part] for part in parts[1:] if part in _MODULE_WORDS]
    return known[:1] or ([] if parts[0] in _PLAIN_MODULES else [OTHER])


def _attributes(node: ast.AST) -> list[str]:
    """The attributes that a node takes from whatever object, and the names that it imports from whatever module."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.MatchClass):
        return node.kwd_attrs
    if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] not in _MODULES:
        return [alias.name for alias in node.names]
    return []


def _lookup(call: ast.Call, does: str, aliases: Mapping[str, str], modules: set[str]) -> Iterator[tuple[int, str, str]]:
    """What a call of getattr and its like reaches for, of a module by a name made up while it runs."""
    owner = dotted_name(call.args[0], dict(aliases))
    if does not in ("getattr", "setattr", "delattr", "vars"):
        return
    name = call.args[1].value if len(call.args) > 1 and isinstance(call.args[1], ast.Constant) else None
    if name in _MODULE_WORDS:
        yield call.lineno, f".{name}", _MODULE_WORDS[name]
    elif name in _NAMES:
        yield call.lineno, str(name), _NAMES[name]
    elif owner and owner.partition(".")[0] in modules and (name is None or does != "getattr"):
        yield call.lineno, f"{does}({owner}, …)", "names looked up while it runs"


def _imported(node: ast.AST) -> list[str]:
    """The modules of others that a statement imports, and the names known here that it imports from one."""
    modules = [name for name in imported_modules(node) if not name.startswith(".")]
    if not isinstance(node, ast.ImportFrom):
        return modules
    names = [f"{module}.{of_bounded_length(alias.name)}" for module in modules for alias in node.names]
    return modules + [name for name in names if name in _MODULES or name in _NAMES]
