"""Attacks whose text is too long to be kept: what each is, and what makes the lines that it adds."""

LONG = {
    "nested_source": ("brackets deeper than any parser likes", lambda: "nest = " + "(" * 5000 + "1" + ")" * 5000),
    "signs": ("a hundred thousand signs before one number", lambda: "number = " + "-" * 100_000 + "1"),
    "chain": ("a chain of a hundred thousand attributes", lambda: "chain = 1" + "\\\n.real" * 100_000),
    "comparisons": ("a comparison of thirty thousand parts", lambda: "same = 1" + " == 1" * 30_000),
    "branches": ("a branch with twenty thousand ways", lambda: "if 0: pass\n" + "elif 0: pass\n" * 20_000),
    "rebindings": (
        "a name that is bound ten thousand times in a branch, and called",
        lambda: "if 0:\n" + " a = a\n" * 10_000 + " softmax = project = self_attention = a",
    ),
    "attributes": (
        "two thousand chains of a hundred attributes, which take hundreds of megabytes to read",
        lambda: "if 0:\n" + (" a" + ".a" * 100 + "\n") * 2_000,
    ),
    "names": (
        "ten thousand names, each by another",
        lambda: "if 0:\n" + "".join(f" a{n + 1} = a{n}\n" for n in range(10_000)),
    ),
    "long_line": ("a line of a hundred thousand elements", lambda: "numbers = [" + "1, " * 100_000 + "]"),
    "f_strings": ("f-strings within f-strings", lambda: 'text = f"' + "{f'{1}'}" * 6_000 + '"'),
}

#: Likewise, but no reader comes to the end of them: they cost the grader its limit each time.
ENDLESS = {
    "accents": (
        "a name of a hundred thousand accents, which every parser puts in order",
        lambda: "a" + "\u0300\u0316" * 100_000 + " = 1",
    ),
}
