# /// attack
# about = "markup of the library that prints the instructor's lines"
# module = "worked_example"
# deserves = 0
# log = "[link=file:///etc/passwd]"
# ///
raise type("[bold red]", (Exception,), {})("[/][link=file:///etc/passwd]82 of 82[/link][/bold red] [not closed :skull:")
