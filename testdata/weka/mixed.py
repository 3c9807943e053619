"""Writes mixed.arff and mixed.xml: 150 rows with nominal inputs and missing cells.

    cd testdata/weka && python mixed.py
"""

import random

draw = random.Random(1)
rows = []
for _ in range(150):
    a, b, c = (draw.random() < p for p in (0.5, 0.3, 0.08))
    colour = draw.choice("rg" if a else "gbb")
    inputs = [
        f"{draw.gauss(2 if a else 0, 1):.3f}",
        f"{draw.gauss(1 if a != b else 0, 1):.1f}",
        str(draw.randrange(4) + (3 if b else 0)),
        str(int(c or draw.random() < 0.1)),
        "7.5",
        colour,
        "yes" if (draw.random() < 0.8) == b else "no",
        draw.choice(["x", "y", "z"]),
        f"{draw.gauss(0, 1):.2f}",
        str(draw.choice([0, 0, 0, 0, 0, 1, 2, 5 if c else 3])),
    ]
    share = [0.1, 0, 0.2, 0, 0.05, 0.15, 0, 0.3, 0.1, 0]
    inputs = ["?" if draw.random() < p else cell for cell, p in zip(inputs, share)]
    rows.append(inputs + [str(int(x)) for x in (a, b, c, draw.random() < 0.5, False)])

with open("mixed.arff", "w") as file:
    file.write("% Made by mixed.py.\n@relation mixed\n")
    for name in ("fine", "coarse", "count", "flag", "constant"):
        file.write(f"@attribute {name} numeric\n")
    file.write("@attribute colour {r,g,b,unused}\n@attribute answer {no,yes}\n")
    file.write("@attribute noise {x,y,z}\n@attribute more numeric\n@attribute mostly_zero numeric\n")
    for label in ("even", "uneven", "rare", "chance", "never"):
        file.write(f"@attribute {label} {{0,1}}\n")
    file.write("@data\n")
    file.writelines(",".join(row) + "\n" for row in rows)
with open("mixed.xml", "w") as file:
    file.write('<labels xmlns="http://mulan.sourceforge.net/labels">\n')
    for label in ("even", "uneven", "rare", "chance", "never"):
        file.write(f'<label name="{label}"></label>\n')
    file.write("</labels>\n")
