"""Tables of a Markdown page that scripts write, between sentences that people write.

A table that is made by a script stands below a line such as `<!-- table: by set -->`.
"""

import re


def table(head, rows):
    """The lines of a Markdown table."""
    line = lambda cells: "| " + " | ".join(map(str, cells)) + " |"
    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def write_tables(path, tables):
    """Puts each table in the place of the one below the line with its name; a name without a place is an error."""
    with open(path) as file:
        page = file.read()
    for name, lines in tables.items():
        mark = f"<!-- table: {name} -->\n"
        if page.count(mark) != 1:
            raise SystemExit(f"{path} has no single line {mark.strip()}")
        page = re.sub(re.escape(mark) + r"(\|.*\n)*", lambda _: mark + "\n".join(lines) + "\n", page)
    with open(path, "w") as file:
        file.write(page)
