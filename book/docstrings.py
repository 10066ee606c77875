"""Docstrings of installed packages as labelled texts, for a machine without any data set."""

from __future__ import annotations

import ast
import csv
import importlib.util
import inspect
import json
import random
import re
import sys
import sysconfig
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

__all__ = [
    "PADDING",
    "Docstring",
    "Pair",
    "Text",
    "Vocabulary",
    "collect",
    "hub_texts",
    "modules",
    "pairs",
    "pieces",
    "read_texts",
    "sentences",
    "split",
    "texts_for_this_machine",
]

LIBRARIES = ("matplotlib", "numpy", "python", "torch")  # "python" is the standard library
PADDING, UNKNOWN = 0, 1
SKIPPED = {"site-packages", "dist-packages", "test", "tests", "testing", "idlelib", "lib2to3", "ensurepip", "_vendor"}
#: Words that name a library; a sentence that holds one keeps its place with "library" in it.
NAMES = "numpy np torch pytorch libtorch aten matplotlib mpl pyplot plt pylab python cpython stdlib"
MASKED = dict.fromkeys(NAMES.split(), "library")
SECTION = re.compile(
    r"(args|arguments|parameters|params|returns?|raises?|yields?|examples?|notes?|shape|inputs?|outputs?|attributes"
    r"|keyword args|see also|references|warnings?|usage|methods|other parameters|keywords|variables)\s*:+\s*$",
    re.IGNORECASE,
)
UNDERLINE = re.compile(r"\s*([-=~^*#])\1{2,}\s*$")
CODE = re.compile(
    r"(:[a-z:]+:)?`+[^`]*`+_*"  # anything in backticks, with its role
    r"|\S*://\S+"  # addresses
    r"|\b\w*[_\d]\w*(?:\.\w+)*\b(?:\(\))?"  # names with an underscore or a digit
    r"|\b[A-Za-z]\w*(?:\.[A-Za-z_]\w*)+\b(?:\(\))?"  # dotted paths
    r"|\b\w+\(\)"  # calls
    r"|\b[A-Za-z]*[a-z][A-Z]\w*\b"  # CamelCase
)


@dataclass(frozen=True)
class Docstring:
    """One docstring of a library: where it stands, the name it belongs to, and what it says."""

    library: str
    module: str
    name: str  # "" for the module's own
    text: str


@dataclass(frozen=True)
class Text:
    """One sentence in words, the class it belongs to, and the group (a module) that is never split."""

    words: tuple[str, ...]
    label: str
    group: str


@dataclass(frozen=True)
class Pair:
    """A function's name in pieces, a summary in words, and whether they belong together."""

    name: tuple[str, ...]
    summary: tuple[str, ...]
    match: bool
    group: str


# From the files to docstrings


def _root(library: str) -> Path | None:
    if library == "python":
        return Path(sysconfig.get_paths()["stdlib"])
    spec = importlib.util.find_spec(library)
    return Path(spec.origin).parent if spec and spec.origin else None


def _order(name: str) -> int:
    """A number that depends on the name alone: an order that is the same everywhere and follows no alphabet."""
    return zlib.crc32(name.encode())


def modules(library: str) -> list[tuple[str, Path]]:
    """The library's modules without its tests, as (dotted name, file), in an order that depends on names alone."""
    root = _root(library)
    return _modules(library, root) if root else []


def _modules(library: str, root: Path) -> list[tuple[str, Path]]:
    found = []
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        if not SKIPPED & set(parts):
            found.append((".".join((library, *(part for part in parts if part != "__init__"))), path))
    return sorted(found, key=lambda item: (_order(item[0]), item[0]))


def _docstrings(library: str, module: str, source: str) -> Iterator[Docstring]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about other people's string literals
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield Docstring(library, module, getattr(node, "name", ""), text)


@cache
def collect(modules_per_library: int = 120, libraries: tuple[str, ...] = LIBRARIES) -> tuple[Docstring, ...]:
    """The docstrings of the installed libraries, read from their source files: nothing is imported or downloaded.

    modules_per_library: how many modules of each library are read; which ones depends on their names alone
    libraries: names of packages, "python" for the standard library; a package that is not installed is left out
    """
    found: list[Docstring] = []
    for library in libraries:
        root = _root(library)
        read = 0
        for module, path in _modules(library, root) if root else ():
            if not 2_000 < path.stat().st_size < 150_000:  # little to say, or slow to parse
                continue
            source = path.read_text(encoding="utf-8", errors="replace")
            if source.count('"""') < 4:  # fewer than two docstrings
                continue
            found.extend(_docstrings(library, module, source))
            read += 1
            if read == modules_per_library:
                break
    return tuple(found)


# From docstrings to words


def _prose(text: str) -> list[str]:
    """The paragraphs before the first section heading, without doctests, directives and indented blocks."""
    lines = inspect.cleandoc(text).splitlines()
    kept: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        if UNDERLINE.match(following) or SECTION.match(line.strip()):
            break
        plain = line.strip()
        if UNDERLINE.match(line) or line[:1].isspace() or plain.startswith((">>>", "...", "..", "|", "+-", "@", ":")):
            plain = ""
        kept.append(plain)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", "\n".join(kept)) if part.strip()]


def words_of(sentence: str) -> tuple[str, ...]:
    """A sentence in lower-case words: code becomes "code", a library's name "library", punctuation goes."""
    coded = CODE.sub(lambda found: found[0] if found[0].lower() in MASKED else " \0 ", sentence)  # NumPy is a name
    plain = re.sub(r"[*|]", " ", coded)
    found = re.findall(r"\0|[A-Za-z]+(?:'[a-z]+)?", plain)
    words = [MASKED.get(word.lower(), word.lower()) if word != "\0" else "code" for word in found]
    return tuple(word for at, word in enumerate(words) if word != "code" or at == 0 or words[at - 1] != "code")


def sentences(
    docstrings: Iterable[Docstring], per_library: int = 2000, per_module: int = 40, shortest: int = 6, longest: int = 30
) -> list[Text]:
    """The docstrings' sentences, labelled with their library, grouped by module.

    per_library, per_module: at most so many sentences of one library, of one module
    shortest, longest: a sentence's length in words
    A sentence that begins with the same six words as an earlier one is left out, whichever library it is from.
    """
    seen: set[tuple[str, ...]] = set()
    by_library: Counter[str] = Counter()
    by_module: Counter[str] = Counter()
    found = []
    for docstring in docstrings:
        for paragraph in _prose(docstring.text):
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph):
                words = words_of(sentence)
                plain = sum(word not in ("code", "library") for word in words)
                full = by_library[docstring.library] >= per_library or by_module[docstring.module] >= per_module
                if full or words[:6] in seen or not shortest <= len(words) <= longest or plain < 0.7 * len(words):
                    continue
                seen.add(words[:6])
                by_library[docstring.library] += 1
                by_module[docstring.module] += 1
                found.append(Text(words, docstring.library, docstring.module))
    return found


def split(items: Sequence[Any], test: float = 0.25) -> tuple[list[Any], list[Any]]:
    """Training and test items, such that no group (module) is in both.

    test: the share of each label's items that goes to the test, or a little more
    Groups go whole, in the order of their names' checksums.
    """
    held_out: set[str] = set()
    for label in sorted({_label(item) for item in items}):
        sizes = Counter(item.group for item in items if _label(item) == label)
        wanted = test * sum(sizes.values())
        for group in sorted(sizes, key=lambda name: (_order(name), name)):
            if wanted <= 0:
                break
            held_out.add(group)
            wanted -= sizes[group]
    train = [item for item in items if item.group not in held_out]
    return train, [item for item in items if item.group in held_out]


def _label(item: Any) -> str:
    return getattr(item, "label", "")


# From words to numbers


class Vocabulary:
    """A number for each word that the training texts use at least `least` times; 0 is padding, 1 any other word."""

    def __init__(self, texts: Iterable[Sequence[str]], least: int = 2) -> None:
        counts = Counter(word for words in texts for word in words)
        self.words = ["(padding)", "(unknown)", *sorted(word for word, count in counts.items() if count >= least)]
        self._number = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, texts: Sequence[Sequence[str]], length: int) -> Tensor:
        """Token ids (len(texts), length), padded on the right; longer texts are cut."""
        ids = torch.full((len(texts), length), PADDING)
        for row, words in enumerate(texts):
            numbers = [self._number.get(word, UNKNOWN) for word in words[:length]]
            ids[row, : len(numbers)] = torch.tensor(numbers, dtype=torch.long)
        return ids


# Names and summaries


def pieces(name: str) -> tuple[str, ...]:
    """A name in words, divided at underscores, digits and capitals: getHTTPResponse → get, http, response."""
    return tuple(part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name))


def pairs(docstrings: Iterable[Docstring], same_module: bool = True, seed: int = 0) -> list[Pair]:
    """Each summary twice: with its own function's name, and with the name of another function.

    same_module: whether the other name is one of the same module; otherwise one from far away
    Each name, too, occurs once as right and once as wrong, so that neither half alone says anything.
    """
    by_module: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = defaultdict(dict)
    seen: set[tuple[str, ...]] = set()
    for docstring in docstrings:
        name = pieces(docstring.name)
        prose = _prose(docstring.text)
        summary = words_of(re.split(r"(?<=[.!?])\s+(?=[A-Z`])", prose[0])[0])[:24] if prose else ()
        usable = len(name) > 0 and len("".join(name)) > 2 and not docstring.name.startswith("__") and len(summary) >= 3
        if usable and summary not in seen and name not in by_module[docstring.module]:
            seen.add(summary)
            by_module[docstring.module][name] = summary
    groups = [(module, list(own.items())[:40]) for module, own in by_module.items() if len(own) > 1]
    everywhere = [name for _, own in groups for name, _ in own]
    rng = random.Random(seed)
    found, at = [], 0
    for module, own in groups:
        rng.shuffle(own)
        for index, (_, summary) in enumerate(own):
            right = own[index][0]
            other = own[(index + 1) % len(own)][0] if same_module else everywhere[at - len(everywhere) // 2]
            found += [Pair(right, summary, True, module), Pair(other, summary, False, module)]
            at += 1
    return found


# Public data of the same form


def read_texts(path: Path | str, text: str = "text", label: str = "label", group: str | None = None) -> list[Text]:
    """Labelled texts of a local file, JSON lines (.jsonl) or CSV with a header (.csv): one record per text.

    text, label, group: the names of the fields; without a group each record is its own
    """
    path = Path(path)
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return _texts(csv.DictReader(file), text, label, group)
        if path.suffix == ".jsonl":
            return _texts((json.loads(line) for line in file if line.strip()), text, label, group)
    raise ValueError(f"expected a file that ends in .jsonl or .csv, got {path.name}; convert it")


def _texts(records: Iterable[dict[str, Any]], text: str, label: str, group: str | None) -> list[Text]:
    found = []
    for number, record in enumerate(records):
        for field in (text, label, group):
            if field is not None and field not in record:
                raise ValueError(f"record {number} has no field {field!r}; it has {', '.join(map(str, record))}")
        own_group = str(record[group]) if group is not None else f"record {number}"
        found.append(Text(words_of(record[text]), str(record[label]), own_group))
    return found


def hub_texts(name: str = "fancyzhx/ag_news", part: str = "train", count: int = 8000) -> list[Text]:
    """`count` texts of a public data set of the Hugging Face hub with fields "text" and "label".

    Needs the package `datasets` and a network; Colab has both.
    """
    from datasets import load_dataset

    data = load_dataset(name, split=part).shuffle(seed=0)
    data = data.select(range(min(count, len(data))))
    names = getattr(data.features["label"], "names", None)
    records = ({"text": row["text"], "label": names[row["label"]] if names else row["label"]} for row in data)
    return _texts(records, "text", "label", None)


def texts_for_this_machine() -> tuple[list[Text], str]:
    """Labelled texts, and a line that says which: on Colab a public data set, elsewhere docstrings."""
    reason = "not on Colab"
    if "google.colab" in sys.modules:
        try:
            return hub_texts(), "Data: fancyzhx/ag_news, news in four classes, from the hub."
        except Exception as error:  # whatever the hub or the network raises
            reason = f"the hub cannot be used: {type(error).__name__}"
    return sentences(collect()), f"Data: docstrings of the packages on this machine ({reason}; nothing is downloaded)."
