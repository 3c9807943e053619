"""The ratios of RESULTS.md as a picture, RESULTS.svg: how many times the CPU time of ours rivals take.

    python3 bench/picture.py
"""

import html
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))
LINE, LEFT, WIDTH, RIGHT = 18, 400, 460, 60


def tables(text):
    """Sections with their tables: titles, and rows as dictionaries."""
    for section in text.split("\n## ")[1:]:
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
        if len(rows) > 2:
            yield section.split("\n", 1)[0], [dict(zip(rows[0], row)) for row in rows[2:]]


def ratios(text):
    """What rivals take, by section: the rival's CPU time over that of the method of ours that does the same."""
    for title, rows in tables(text):
        column = next((name for name in rows[0] if name in ("ratio", "over ecc-nb", "over ecc-knn")), None)
        found = []
        for row in rows if column else []:
            what, who = list(row.values())[:2]
            same = "over dynamic-nb" if who.endswith("dynamic") else column
            try:
                ratio = float(row[same])
            except ValueError:
                continue
            if not who.startswith("labelchain"):
                found.append((f"{what}: {who}", ratio))
        if found:
            yield title, found


def drawn(sections):
    most = max(ratio for _, found in sections for _, ratio in found)
    decades = math.ceil(math.log10(most))
    x = lambda ratio: LEFT + WIDTH * math.log10(max(ratio, 1)) / decades
    shapes, y = [], 40
    for title, found in sections:
        y += LINE
        shapes.append(f'<text x="8" y="{y}" class="title">{html.escape(title)}</text>')
        for label, ratio in found:
            y += LINE
            shapes.append(f'<text x="{LEFT - 8}" y="{y}" text-anchor="end">{html.escape(label)}</text>')
            shapes.append(f'<rect x="{LEFT}" y="{y - 11}" width="{max(x(ratio) - LEFT, 1):.1f}" height="13"/>')
            shapes.append(f'<text x="{x(ratio) + 6:.1f}" y="{y}">{ratio:g} ×</text>')
    grid = "".join(f'<line x1="{x(10**at):.1f}" y1="30" x2="{x(10**at):.1f}" y2="{y + 8}"/><text x="{x(10**at):.1f}" y="24" text-anchor="middle">{10**at} ×</text>' for at in range(decades + 1))
    style = "text{font:12px sans-serif;fill:#222}.title{font-weight:bold}rect{fill:#2a6f97}line{stroke:#ddd}"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + RIGHT} {y + 16}" role="img" '
            f'aria-label="CPU time of rivals over that of labelchain"><style>{style}</style>'
            f'<rect width="100%" height="100%" style="fill:#fff"/>{grid}{"".join(shapes)}</svg>\n')


with open(os.path.join(HERE, "RESULTS.md")) as results:
    sections = list(ratios(results.read()))
with open(os.path.join(HERE, "RESULTS.svg"), "w") as picture:
    picture.write(drawn(sections))
