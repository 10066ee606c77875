"""Finds what a screen of a given width cuts off, tears apart or scrolls sideways, with every fold open."""

from __future__ import annotations

from playwright.sync_api import Page

WIDTHS = (320, 390, 820, 1280)  # CSS pixels: a small phone, a phone, a tablet, a desktop
NARROW, TABLES = 390, ".pst-scrollable-table-container, .text_html"  # below this width a table may scroll inside itself
PAPER = 665  # CSS pixels between the margins of A4, as print.css sets them: 176 of 210 mm
#: What stands out of the article, or is wider inside than outside: "tag.class: its text", one line each.
TOO_WIDE = """may_scroll => {
  const article = document.querySelector('article')
  article.querySelectorAll('details').forEach(fold => { fold.open = true })
  const edge = article.getBoundingClientRect().right + 1
  const isDrawn = element => element.checkVisibility() && getComputedStyle(element).position !== 'absolute'
  const holdsMore = element => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
    && getComputedStyle(element).overflowX !== 'visible'
  const standsOut = element => element.getBoundingClientRect().right > edge
  const formulas = '.math, .katex-display, .katex-html'
  const texts = 'pre, pre .line, textarea, table, .output, h1, h2, h3, p, li, summary, div'
  const selector = `${texts}, figure, img, svg, ${formulas}`
  const left = may_scroll ? ', ' + may_scroll : ''
  const isSeen = element => !element.closest('.katex-mathml, .visually-hidden' + left)
  const wide = [...article.querySelectorAll(selector)].filter(isSeen).filter(isDrawn)
    .filter(element => holdsMore(element) || standsOut(element))
  const innermost = wide.filter(element => !wide.some(other => other !== element && element.contains(other)))
  return innermost.map(element => {
    const text = (element.textContent.trim() || element.getAttribute('src') || '').replace(/\\s+/g, ' ').slice(0, 60)
    const over = Math.max(element.scrollWidth - element.clientWidth, element.getBoundingClientRect().right - edge)
    return `${element.tagName.toLowerCase()}.${element.className}: ${Math.round(over)} px too wide: ${text}`
  })
}"""

#: Signs that begin a line because the formula before them ends the one above.
TORN_OFF = """() => {
  const found = [], texts = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT)
  for (let text; (text = texts.nextNode());) {
    const formula = text.previousSibling
    const base = formula?.matches?.('span.math') && [...formula.querySelectorAll('.base')].at(-1)
    if (!base || !/^[.,;:!?)]/.test(text.data) || !base.checkVisibility()) continue
    const sign = document.createRange()
    sign.setStart(text, 0)
    sign.setEnd(text, 1)
    const [left, right] = [sign.getBoundingClientRect().left, base.getBoundingClientRect().right]
    if (left < right - 3) found.push(`${text.data.slice(0, 30)} after ${formula.textContent}`)
  }
  return found
}"""

#: Text smaller than 10 points: "8.5 pt: its text", one line for each element that holds some. Formulas have indices.
TOO_SMALL = """() => {
  const holdsText = e => [...e.childNodes].some(node => node.nodeType === 3 && node.data.trim())
  const isRead = e => !e.closest('.katex, .visually-hidden, svg, sup, sub') && e.checkVisibility()
  return [...document.querySelectorAll('article *')].filter(holdsText).filter(isRead)
    .map(e => [parseFloat(getComputedStyle(e).fontSize) * 0.75, e.textContent.trim().slice(0, 40), e.className])
    .filter(([size]) => size > 0 && size < 9.95).map(([size, text, name]) => `${size.toFixed(1)} pt: .${name}: ${text}`)
}"""
CONTROLS = (
    ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer, .copybtn, .headerlink, "
    ".exercise-in-page, .le-corner"
)


def on_paper(tab: Page) -> list[str]:
    """What A4 cuts off, what is too small to read on it, and controls that are printed."""
    tab.emulate_media(media="print")
    found = [*too_wide(tab, PAPER), *dict.fromkeys(tab.evaluate(TOO_SMALL))]
    found += [
        f"{one} is printed"
        for one in tab.evaluate(f"""() => [...document.querySelectorAll('{CONTROLS}')]
        .filter(e => e.checkVisibility({{ visibilityProperty: true }})).map(e => e.className)""")
    ]
    tab.emulate_media(media="screen")
    return found


def too_wide(tab: Page, width: int) -> list[str]:
    """tab: an open page; width: of the screen, in CSS pixels. Returns a line for each innermost element."""
    tab.set_viewport_size({"width": width, "height": 900})
    return [f"{width} px: {finding}" for finding in tab.evaluate(TOO_WIDE, TABLES if width < NARROW else "")]


def torn_off(tab: Page, width: int) -> list[str]:
    """A line for each comma or full stop that does not stand on the line of its formula."""
    tab.set_viewport_size({"width": width, "height": 900})
    return [f"{width} px: {finding}" for finding in tab.evaluate(TORN_OFF)]
