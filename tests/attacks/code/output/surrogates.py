# /// attack
# about = "halves of characters, which no file can hold, in an error"
# module = "worked_example"
# deserves = 0
# log = "\\udc80"
# ///
raise type("\ud800", (Exception,), {})("\udc80\udfff half of a character \x00")
