"""Draws bench/results.json as bars: `python3 bench/picture.py` writes docs/speed.svg.

One group per task, our bar above the peers', on a logarithmic axis: equal distances are equal ratios. Nothing but the
standard library; the picture follows the reader's light or dark setting and is readable in black and white.
"""

import json
import math
from html import escape
from pathlib import Path

from table import duration

ROOT = Path(__file__).resolve().parent.parent
SHOWN = [
    ("two-state-compact", "index and gradient, two states, {size}"),
    ("general", "index and gradient, five states, {size}"),
    ("general-forward", "index and verdict, {size}"),
    ("soft-top-k", "soft top-k and gradient, {size}"),
]
LEFT, WIDTH, RIGHT, BAR, GAP = 225, 450, 120, 13, 3
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #1a1a1a }
  .title { font-weight: 600 } .small { font-size: 11px; fill: #555 }
  .ours { fill: #0b5d7a } .theirs { fill: #b9c3c9 } .axis { stroke: #ccc; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #eee } .small { fill: #aaa } .ours { fill: #5cc3e6 } .theirs { fill: #56626a } .axis { stroke: #444 }
  }
"""


def tick(power):
    unit, scale = [("ns", -9), ("µs", -6), ("ms", -3), ("s", 0)][min((power + 9) // 3, 3)]
    return f"{10 ** (power - scale)} {unit}"


def groups(rows):
    """Tasks in the order of SHOWN; one group per task and size."""
    for kernel, title in SHOWN:
        sizes = dict.fromkeys(row["size"] for row in rows if row["kernel"] == kernel)
        for size in sizes:
            peers = [row for row in rows if row["kernel"] == kernel and row["size"] == size and row["ours"]]
            if peers:
                yield title.format(size=size), peers[0]["ours"], peers


def main():
    rows = json.loads((ROOT / "bench/results.json").read_text())["rows"]
    shown = list(groups(rows))
    times = [t for _, ours, peers in shown for t in [ours, *(row["seconds"] for row in peers)]]
    # half a decade of room below, so that the shortest bar can be seen
    low, high = math.log10(min(times)) - 0.5, math.log10(max(times))
    x = lambda seconds: LEFT + WIDTH * (math.log10(seconds) - low) / (high - low)
    body, y = [], 24
    for title, ours, peers in shown:
        body.append(f'<text class="title" x="12" y="{y}">{escape(title)}</text>')
        y += 8
        bars = [("restive", ours, "ours", "")]
        bars += [(row["peer"], row["seconds"], "theirs", f" · {row['ratio']:.{1 if row['ratio'] < 10 else 0}f} ×") for row in peers]
        for name, seconds, kind, ratio in bars:
            body.append(f'<text class="small" x="{LEFT - 8}" y="{y + 10}" text-anchor="end">{escape(name)}</text>')
            body.append(f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{x(seconds) - LEFT:.1f}" height="{BAR}" rx="2"/>')
            body.append(f'<text class="small" x="{x(seconds) + 6:.1f}" y="{y + 10}">{duration(seconds)}{ratio}</text>')
            y += BAR + GAP
        y += 22
    bottom = y - 14
    for power in range(math.ceil(low), math.ceil(high)):
        at = x(10.0**power)
        body.insert(0, f'<line class="axis" x1="{at:.1f}" x2="{at:.1f}" y1="10" y2="{bottom}"/>')
        body.append(f'<text class="small" x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">{tick(power)}</text>')
    note = "one core, double precision, best of many calls, all from one run; × is their time over ours"
    body.append(f'<text class="small" x="12" y="{bottom + 36}">{note}</text>')
    width, height = LEFT + WIDTH + RIGHT, bottom + 48
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    svg += f"\n<style>{STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n"
    (ROOT / "docs").mkdir(exist_ok=True)
    (ROOT / "docs/speed.svg").write_text(svg)


if __name__ == "__main__":
    main()
