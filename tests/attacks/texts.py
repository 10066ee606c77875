"""Attacks whose text is too long to be kept: what each is, and what makes the lines that it adds."""

LONG = {
    "nested_source": ("brackets deeper than any parser likes", lambda: "nest = " + "(" * 5000 + "1" + ")" * 5000),
    "signs": ("a hundred thousand signs before one number", lambda: "number = " + "-" * 100_000 + "1"),
    "chain": ("a chain of a hundred thousand attributes", lambda: "chain = 1" + "\\\n.real" * 100_000),
    "comparisons": ("a comparison of thirty thousand parts", lambda: "same = 1" + " == 1" * 30_000),
    "branches": ("a branch with twenty thousand ways", lambda: "if 0: pass\n" + "elif 0: pass\n" * 20_000),
    "f_strings": ("f-strings within f-strings", lambda: 'text = f"' + "{f'{1}'}" * 6_000 + '"'),
}
