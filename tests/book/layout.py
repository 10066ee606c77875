"""Finds what a screen of a given width cuts off, or what scrolls sideways on it, with every fold open."""

from __future__ import annotations

from playwright.sync_api import Page

WIDTHS = (390, 820, 1280)  # CSS pixels: a phone, a tablet, a desktop
#: What stands out of the article, or is wider inside than outside: "tag.class: its text", one line each.
TOO_WIDE = """() => {
  const article = document.querySelector('article')
  article.querySelectorAll('details').forEach(fold => { fold.open = true })
  const edge = article.getBoundingClientRect().right + 1
  const isDrawn = element => element.checkVisibility() && getComputedStyle(element).position !== 'absolute'
  const holdsMore = element => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
    && getComputedStyle(element).overflowX !== 'visible'
  const standsOut = element => element.getBoundingClientRect().right > edge
  const formulas = '.math, .katex-display, .katex-html'
  const selector = `pre, pre .line, table, figure, img, svg, ${formulas}, .output, h1, h2, h3, p, li, summary, div`
  const isSeen = element => !element.closest('.katex-mathml, .visually-hidden')
  const wide = [...article.querySelectorAll(selector)].filter(isSeen).filter(isDrawn)
    .filter(element => holdsMore(element) || standsOut(element))
  const innermost = wide.filter(element => !wide.some(other => other !== element && element.contains(other)))
  return innermost.map(element => {
    const text = (element.textContent.trim() || element.getAttribute('src') || '').replace(/\\s+/g, ' ').slice(0, 60)
    const over = Math.max(element.scrollWidth - element.clientWidth, element.getBoundingClientRect().right - edge)
    return `${element.tagName.toLowerCase()}.${element.className}: ${Math.round(over)} px too wide: ${text}`
  })
}"""


def too_wide(tab: Page, width: int) -> list[str]:
    """tab: an open page; width: of the screen, in CSS pixels. Returns a line for each innermost element."""
    tab.set_viewport_size({"width": width, "height": 900})
    return [f"{width} px: {finding}" for finding in tab.evaluate(TOO_WIDE)]
