"""What readers without JavaScript see in place of <attention-sentence>: a function's answers without each head."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from studies.looked_at import read

ATTRIBUTES: dict[str, tuple[str, ...]] = {}


def fallback(options: Mapping[str, str]) -> str:
    """The probability of the true role of each name that is asked in one function, with all heads and without each."""
    found = read()["functions"]
    text, labels = found["texts"][0], found["labels"]
    heads = [(layer, head) for layer in range(2) for head in range(2)]
    rows = ""
    for question in text["questions"]:
        true = labels.index(question["truth"])
        changed = [question["whole"], *(question["without"][layer][head] for layer, head in heads)]
        cells = "".join(f"<td>{numbers[true] / 10:.1f} %</td>" for numbers in changed)
        rows += f"<tr><th>{escape(text['tokens'][question['at']])}, {question['truth']}</th>{cells}</tr>"
    names = "".join(f"<th>without {layer + 1}.{head + 1}</th>" for layer, head in heads)
    source = escape(" ".join(text["tokens"]).strip())
    return (
        f"<table><caption>The encoder reads <code>{source}</code>: the probability that it gives to the true role of"
        " each name, as it is and without one head (layer.head; its block of W_O is set to zero).</caption>"
        f"<tr><th>name</th><th>as it is</th>{names}</tr>{rows}</table>"
    )
