# /// attack
# about = "names of exceptions with direction marks, zero-width characters and line ends"
# module = "worked_example"
# deserves = 0
# log = "\\u202e"
# ///
raise type("\u202egnihton\u2066\u200b\ufeff\n82 of 82 points\r", (Exception,), {})("\u202ednik yna fo")
