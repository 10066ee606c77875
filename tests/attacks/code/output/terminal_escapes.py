# /// attack
# about = "an error that clears the screen, renames the window, fills the clipboard and draws a link"
# module = "worked_example"
# deserves = 0
# log = "\\x1b[2J"
# ///
raise SyntaxError(
    "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b]8;;file:///etc/passwd\x07here\x1b]8;;\x07\x9b31m\x07"
)
