"""The curves of bench/scale.py as a picture.

    python3 bench/scale_picture.py docs/results/scale.csv docs/pictures/scale.svg

A panel for each thing that grows, with CPU seconds over size, both logarithmic. Nothing but Python's standard library is
needed.
"""

import csv
import math
import sys
from html import escape

COLOURS = {"certain-forest": "#0b6e4f", "ecc-nb": "#c8553d", "br-nb": "#2b59c3", "dynamic-nb": "#8a4fbf", "dynamic-knn": "#b8860b", "br-svm": "#5a6270"}
PANELS = [("rows predicted", "rows to predict, of 20 inputs and 5 labels"), ("rows", "rows to train on, of 20 inputs and 5 labels"),
          ("labels", "labels, of 2,000 rows and 20 inputs"), ("columns", "columns, of 10,000 rows with 50 cells each")]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 370, 240, 46, 40, 28, 96


def panel(title, lines, x, y):
    """One pair of axes; a line is a name, a colour and its points."""
    sizes, costs = zip(*[point for _, _, points in lines for point in points])
    low, high = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    least, most = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    across = lambda size: LEFT + (math.log10(size) - low) / max(1, high - low) * (WIDTH - LEFT - RIGHT)
    up = lambda cost: HEIGHT - BOTTOM - (math.log10(cost) - least) / max(1, most - least) * (HEIGHT - BOTTOM - TOP)
    out = [f'<g transform="translate({x} {y})"><text x="{LEFT}" y="16" font-weight="600">{escape(title)}</text>']
    for power in range(low, high + 1):
        at = across(10.0**power)
        out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#8884"/>')
        out.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{10**power:,}</text>')
    for power in range(least, most + 1):
        at = up(10.0**power)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#8884"/>')
        out.append(f'<text x="{LEFT - 5}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    taken = []
    for name, colour, points in lines:
        path = " ".join(f"{across(size):.1f},{up(cost):.1f}" for size, cost in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{across(size):.1f}" cy="{up(cost):.1f}" r="2.5" fill="{colour}"/>' for size, cost in points]
        # Names stand at the ends of their lines, and make room for each other.
        end, at = across(points[-1][0]), up(points[-1][1])
        while any(end == other[0] and abs(at - other[1]) < 13 for other in taken):
            at += 13
        taken.append((end, at))
        out.append(f'<text x="{end + 6:.1f}" y="{at + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    return out + ["</g>"]


def main():
    source, target = sys.argv[1:]
    lines = {}
    with open(source, newline="") as rows:
        for row in csv.DictReader(rows):
            if row["cpu_s"]:
                lines.setdefault((row["grows"], row["method"]), []).append((float(row["size"]), max(0.01, float(row["cpu_s"]))))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}" font-family="system-ui, sans-serif" font-size="11" fill="currentColor">',
           f'<title>CPU seconds as rows, labels and columns grow</title><rect width="{2 * WIDTH}" height="{2 * HEIGHT}" fill="#fff"/><g fill="#222">']
    for at, (grows, title) in enumerate(PANELS):
        # Columns may be selected or all used: lines of one panel.
        here = [(method + grown[len(grows):].replace(", ", " "), COLOURS[method], points) for (grown, method), points in lines.items() if grown == grows or grown.startswith(grows + ",")]
        out += panel(title, here, at % 2 * WIDTH, at // 2 * HEIGHT)
    with open(target, "w") as file:
        file.write("\n".join([*out, "</g></svg>\n"]))


if __name__ == "__main__":
    main()
