"""What the scripts that write golden files of tables of labels have in common."""

import json


def drawn(rng, n_rows, shares):
    """One cell per row and label, relevant with the label's share."""
    return [[int(rng.random() < share) for share in shares] for _ in range(n_rows)]


def blank(table, rows=(), labels=(), cell=0):
    """The table with this cell in the named rows and labels."""
    return [
        [cell if row in rows or label in labels else old for label, old in enumerate(cells)]
        for row, cells in enumerate(table)
    ]


def write(folder, tool, version, tolerance, cases):
    """Prints golden.json: where its numbers are from, then a case on each line."""
    head = {
        "tool": tool,
        "version": version,
        "command": f"python testdata/{folder}/make.py > testdata/{folder}/golden.json",
        "tolerance": tolerance,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    recorded = ",\n  ".join(json.dumps(case) for case in cases)
    print("{" + ",\n ".join(lines) + ',\n "cases": [\n  ' + recorded + "\n ]}")
