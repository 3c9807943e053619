"""Writes flowers.arff and flowers.xml: 150 rows of four measures, with one decimal, of three kinds.

    cd testdata/weka && python flowers.py
"""

import random

MEANS = {"low": (5.0, 3.4, 1.5, 0.2), "middle": (5.9, 2.8, 4.3, 1.3), "high": (6.6, 3.0, 5.6, 2.0)}
DEVIATIONS = (0.5, 0.3, 0.5, 0.25)

draw = random.Random(2)
with open("flowers.arff", "w") as file:
    file.write("% Made by flowers.py.\n@relation flowers\n")
    for name in ("length", "width", "petal_length", "petal_width"):
        file.write(f"@attribute {name} numeric\n")
    for kind in MEANS:
        file.write(f"@attribute {kind} {{0,1}}\n")
    file.write("@data\n")
    for row in range(150):
        kind = list(MEANS)[row % 3]
        cells = [f"{abs(draw.gauss(mean, deviation)):.1f}" for mean, deviation in zip(MEANS[kind], DEVIATIONS)]
        file.write(",".join(cells + [str(int(kind == other)) for other in MEANS]) + "\n")
with open("flowers.xml", "w") as file:
    file.write('<labels xmlns="http://mulan.sourceforge.net/labels">\n')
    for kind in MEANS:
        file.write(f'<label name="{kind}"></label>\n')
    file.write("</labels>\n")
