"""A report's page as people use it: what they choose, what they see, what they could not read."""

import json
from pathlib import Path
from typing import Any

from support.report.chromium import Tab

_READY = "document.querySelector('#rows .row') !== null"


def show(tab: Tab, page: Path) -> None:
    tab.open(page)
    tab.until(_READY)


def choose(tab: Tab, label: str, value: str) -> None:
    """Choose a value where a label stands."""
    tab.evaluate(
        f"""(() => {{
          const label = [...document.querySelectorAll("#tools label")]
            .find((it) => it.firstChild.textContent.trim() === {json.dumps(label)});
          const select = label.querySelector("select");
          const option = [...select.options].find((it) => it.text === {json.dumps(value)});
          select.value = option.value;
          select.dispatchEvent(new Event("change", {{ bubbles: true }}));
        }})()"""
    )


def click_verdict(tab: Tab, name: str) -> None:
    tab.click(
        "[...document.querySelectorAll('#verdicts label')]"
        f".find((it) => it.children[1].textContent === '{name}')"
    )


def search(tab: Tab, text: str) -> None:
    """Replace what is searched for, and wait as long as the page does before it looks."""
    tab.evaluate("document.getElementById('search').select()")
    tab.write(text)
    tab.evaluate("new Promise((done) => setTimeout(done, 200))")


def verdicts(tab: Tab) -> Any:
    """The numbers beside the verdicts."""
    return tab.evaluate(
        """Object.fromEntries([...document.querySelectorAll("#verdicts label")]
          .filter((it) => it.checkVisibility())
          .map((it) => [it.children[1].textContent, Number(it.children[2].textContent)]))"""
    )


def listed(tab: Tab) -> list[str]:
    """Go through the list from first to last and return the ids of the pairs that it shows."""
    found: list[str] = tab.evaluate(
        """(() => {
          const list = document.getElementById("list"), found = [];
          const press = (key) =>
            list.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          press("Home");
          for (let last = null; ;) {
            const at = list.getAttribute("aria-activedescendant");
            if (at === last) return found;
            found.push(document.querySelector("#pair .facts bdi:last-child").textContent);
            last = at;
            press("ArrowDown");
          }
        })()"""
    )
    rows = tab.evaluate("document.querySelector('#rows .row')?.ariaSetSize ?? '0'")
    assert int(rows) == len(found)
    assert text_of(tab, "#count").startswith(f"{len(found)} of ")
    return found


def text_of(tab: Tab, selector: str) -> str:
    return str(tab.evaluate(f"document.querySelector({json.dumps(selector)}).textContent"))


def is_seen(tab: Tab, selector: str) -> bool:
    """Whether any such element has a place on the page."""
    return bool(
        tab.evaluate(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".some((it) => it.checkVisibility({ visibilityProperty: true }))"
        )
    )


def focused(tab: Tab) -> str:
    return str(tab.evaluate("document.activeElement.id || document.activeElement.className"))


def chosen(tab: Tab) -> int:
    """The place in the list of the pair that is chosen."""
    row = tab.evaluate("document.getElementById('list').getAttribute('aria-activedescendant')")
    return int(str(row).removeprefix("row-"))


# What it looks like


def unfold(tab: Tab) -> None:
    tab.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")


def fits(tab: Tab) -> bool:
    """Whether nobody has to scroll sideways, in a window as wide as it was told to be."""
    width, window = tab.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
    return bool(width <= window)


# Of every text that is seen: its contrast with what lies under it (WCAG 2.2, relative luminance).
_CONTRASTS = """(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const painted = (...layers) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const [colour, alpha] of layers) {
      canvas.globalAlpha = alpha;
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
    }
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = ([r, g, b]) => {
    const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const contrast = (over, under) => {
    const [a, b] = [luminance(painted(...under, over)), luminance(painted(...under))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const grounds = (it) => {
    const found = [];
    for (; it; it = it.parentElement) found.unshift([getComputedStyle(it).backgroundColor, 1]);
    return [["white", 1], ...found];
  };
  const shapes = (svg, text) => {
    const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    return [...svg.querySelectorAll("path")].map((it) => [it, it.getBoundingClientRect()])
      .filter(([it, at]) => at.left < x && x < at.right && at.top < y && y < at.bottom &&
        it.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)
      .map(([it]) => getComputedStyle(it)).filter((look) => look.fill !== "none")
      .map((look) => [look.fill, look.opacity * look.fillOpacity]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const it = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    const svg = it.closest("svg");
    if (!text || !it.checkVisibility() || it.closest("[aria-hidden], .unseen, legend, title, option, script, style, noscript")) continue;
    const look = getComputedStyle(it), under = grounds(svg ?? it);
    found.push([contrast([svg ? look.fill : look.color, 1], svg ? [...under, ...shapes(svg, it)] : under), text]);
  }
  for (const it of document.querySelectorAll("select, input[type=search], button")) {
    if (!it.checkVisibility()) continue;
    for (const part of [null, "::placeholder"]) {
      found.push([contrast([getComputedStyle(it, part).color, 1], grounds(it)), it.id]);
    }
  }
  return found;
})()"""  # noqa: E501


def contrasts(tab: Tab) -> list[tuple[float, str]]:
    """Return the contrast of every text that is seen, and the text."""
    return [(ratio, text) for ratio, text in tab.evaluate(_CONTRASTS)]
