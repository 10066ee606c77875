"""Attacks by names: students' ids that are paths, options, patterns, or somebody else's at a glance."""

from __future__ import annotations

#: Id → what it is; `submit` refuses each of them, and so does whoever finds it as a folder.
REFUSED = {
    "": "nothing",
    ".": "this folder",
    "..": "the folder above",
    "../zoe": "a way to another's folder",
    "/etc/cron.d/x": "an absolute path",
    "a/b": "a path",
    "a\\b": "a path on Windows",
    "-rf": "an option",
    "--course=x": "an option with a value",
    ".hidden": "a hidden folder",
    "*": "a pattern for everybody",
    "[z]oe": "a pattern for one",
    "a+ps1+2026": "fields of nbgrader's exchange",
    "zo\ne": "two lines of a log",
    "zo\re": "a line over another",
    "zo\x1b[31me": "a colour",
    "zo\0e": "a name's end in C",
    "zoe ": "a space at the end",
    " zoe": "a space at the start",
    "z oe": "two words",
    "zoe.": "a dot that Windows drops",
    "zo\u200be": "a space without width",
    "\u202eeoz": "read from right to left",
    "zo\u0065\u0301": "letter and accent apart",
    "\uff5aoe": "a full-width letter",
    "zo\u2091": "a letter set low",
    "zoe\udcff": "half of a character",
    "CON": "a device of Windows",
    "nul.txt": "a device of Windows with an ending",
    "LPT1": "a printer of Windows",
    "x" * 300: "longer than a file's name may be",
    "\u674e" * 60: "longer than it looks",
    "=cmd|'/c calc'!A1": "a formula",
    "<script>": "a tag",
}
#: Of these, what `submit` composes, or strips of blanks, before it looks: the same person's id, typed another way.
COMPOSED = {"zoe ": "zoe", " zoe": "zoe", "zo\u0065\u0301": "zo\u00e9"}
#: Id → what it is; each looks like one who has handed in.
TWINS = {
    "ZOE": "capital letters",
    "Zoe": "one capital letter",
    "zo\u0435": "a Cyrillic letter",
    "z\u043e\u0435": "two Cyrillic letters",
    "z\u03bfe": "a Greek letter",
}
TAKEN = {
    "s\u00f8ren": "a letter of Danish",
    "\u674e\u96f7": "Chinese",
    "\u0441\u0430\u0448\u0430": "Russian",
    "2026001": "a number",
    "a.b-c_d@e.org": "an address",
    "console": "begins as a device of Windows does",
    "zoe.intake": "ends as a file of the grader's once did",
}
