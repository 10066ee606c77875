# /// attack
# about = "HTML, magics and terminal escapes in a source that is right"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
# </pre></div></body><script>window.owned = 1</script><img src=x onerror="window.owned = 1"><base href="http://evil.example/">
# <style>* { display: none }</style><meta http-equiv="refresh" content="0;url=http://evil.example/"><plaintext><!--
TEXT = """
%%html
<script>window.owned = 1</script>
%%javascript
window.owned = 1
\x1b]52;c;b3duZWQ=\x07 ]]> {{ resources }} {% raw %} $\\href{javascript:window.owned=1}{x}$ \u202e
"""
