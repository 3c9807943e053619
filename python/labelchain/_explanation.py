"""How the answer about one row came about, as text, for notebooks and as a plot."""

from __future__ import annotations

import html
import json
from typing import Any


#: How many labels, inputs and training rows are shown.
SHOWN = 5


class Explanation:
    """The vote on a row, and the walk of the member that agrees most with it.

    Printed it is text, a notebook shows it as HTML, and `plot` draws it. `to_dict` has everything: what each member
    decided, in which order, and how strongly it spoke.
    """

    def __init__(self, text: str, row: int = 0) -> None:
        self._content = json.loads(text)[0]
        self._content["row"] = row

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``labelchain explain --json`` has it, and the names of the labels."""
        return json.loads(json.dumps(self._content))

    @property
    def relevant(self) -> list[str]:
        """The names of the labels that are predicted."""
        return list(self._content["relevant"])

    @property
    def order(self) -> list[str]:
        """The names of the labels in the order in which the member decided them."""
        labels = self._content["labels"]
        return [labels[at] for at in self._order()]

    def _order(self) -> list[int]:
        order = self._member()["order"]
        return list(range(len(self._content["labels"]))) if order is None else order

    def _member(self) -> dict[str, Any]:
        return self._content["members"][self._content["member"]]

    def _steps(self) -> tuple[list[str], list[list[str]]]:
        """The walk as a table."""
        of, member = self._content, self._member()
        quantities = of["quantities"]
        known = of.get("known", {})
        head = ["label", *(quantity["title"] for quantity in quantities), "alone", "support", "decision"]
        rows = []
        for at in self._order():
            label, support = of["labels"][at], member["support"][at]
            decision = "relevant" if member["decisions"][at] else "irrelevant"
            if label not in known and (support > 0) != (of["alone"][at] > 0):
                decision += " *"
            rows.append(
                [
                    label,
                    *(f"{quantity['values'][at]:.3g}" for quantity in quantities),
                    _strength(of["alone"][at]),
                    "known" if label in known else _strength(support),
                    decision,
                ]
            )
        return head, rows

    def _legend(self) -> list[str]:
        of = self._content
        legend = [
            "alone: how strongly the inputs alone speak for the label",
            "support: the same after what earlier decisions added; relevant if above 0",
        ]
        if any(row[-1].endswith("*") for row in self._steps()[1]):
            legend.append("*: alone, it would have been decided otherwise")
        legend += [f"{quantity['title']}: {quantity['help']}" for quantity in of["quantities"]]
        return legend + (of["reason"] or "").splitlines()

    def _title(self) -> str:
        labels = ", ".join(self.relevant) or "no label is relevant"
        return f"Row {self._content['row']}, by {self._content['method']}: {labels}"

    def _walk_title(self) -> str:
        of = self._content
        order = "in this order" if self._member()["order"] is not None else "independently"
        if len(of["members"]) == 1:
            return f"The labels were decided {order}:"
        return (
            f"Member {of['member']} agrees with the answer on {of['n_agreed']} of {len(of['labels'])} labels. "
            f"They were decided {order}:"
        )

    def _votes(self) -> tuple[list[str], list[list[str]]]:
        """Label, share of votes, probability, and the probability from which on the label is given."""
        of = self._content
        probabilities, thresholds = of["probabilities"] or {}, of.get("thresholds")
        head = ["label", "votes", "probability"]
        rows = [
            [label, f"{share:.2f}", f"{probabilities[label]:.3f}" if label in probabilities else ""]
            for label, share in zip(of["labels"], of["votes"])
        ]
        if thresholds is None:
            return head, rows
        given = lambda threshold: "never" if threshold is None else f"{threshold:.3f}"
        return [*head, "given from"], [[*row, given(thresholds[row[0]])] for row in rows]

    def _neighbours(self) -> list[list[str]]:
        """The training rows that the answer rests on most, by name where they have one: row, weight, labels."""
        name = lambda of: next(iter(of["id"].values())) if "id" in of else str(of["row"])  # noqa: E731
        return [
            [name(of), f"{of['weight']:.1%}", ", ".join(of["labels"]) or "none"]
            for of in self._content.get("neighbours", [])[:SHOWN]
        ]

    def _inputs(self) -> list[list[str]]:
        """What inputs add to the labels that are predicted: label, input, value, contribution."""
        rows = []
        for label in self.relevant[:SHOWN]:
            of_label = [of for of in self._content.get("inputs", []) if of["label"] == label]
            for of in of_label[:SHOWN]:
                value = "missing" if of["value"] is None else str(of["value"])
                rows.append([label, of["name"], value, f"{of['contribution']:+.3f}"])
        return rows

    def _tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """All tables, each with a sentence before it; one without rows is left out."""
        unit = self._content.get("unit", "")
        questions = [
            [ask["label"], f"{ask['probability']:.2f}", f"{ask['gain']:+.3f}"]
            for ask in self._content.get("ask", [])[: 2 * SHOWN]
        ]
        tables = [
            (self._title(), *self._votes()),
            (self._walk_title(), *self._steps()),
            (f"What inputs add to the {unit} of a label, before any decision:",
             ["label", "input", "value", "adds"], self._inputs()),
            ("Training rows that the answer rests on most:", ["row", "weight", "labels"], self._neighbours()),
            ("What to ask next:", ["label", "probability", "gain"], questions),
        ]
        return [table for table in tables if table[2]]

    def __str__(self) -> str:
        parts = []
        for title, head, rows in self._tables():
            parts += [title, _aligned([head, *rows])]
        return "\n\n".join([*parts, "\n".join(f"  {line}" for line in self._legend())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        legend = "<br>".join(html.escape(line) for line in self._legend())
        tables = (f"<p>{html.escape(title)}</p>{_table(head, rows)}" for title, head, rows in self._tables())
        return f"{''.join(tables)}<p><small>{legend}</small></p>"

    def plot(self, ax: Any = None) -> Any:
        """Draws how strongly the member spoke for each label, alone and when it was decided.

        Needs matplotlib. Returns the axes.
        """
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        order, member = self._order(), self._member()
        places = range(len(order))
        supports, alone = ([of[at] for at in order] for of in (member["support"], self._content["alone"]))
        # What is infinite goes a little beyond all that is not.
        finite = [abs(value) for value in [*supports, *alone] if abs(value) < 1e300]
        most = 1.2 * max(finite, default=1) or 1
        bounded = lambda values: [min(max(value, -most), most) for value in values]
        ax.barh(places, bounded(supports), label="support")
        ax.plot(bounded(alone), places, "k|", markersize=12, label="alone")
        ax.axvline(0, color="grey", linewidth=1)
        ax.set_yticks(places, self.order)
        ax.invert_yaxis()
        ax.set_xlabel("relevant if above 0")
        ax.set_title(self._title())
        ax.legend()
        return ax


def _strength(support: float) -> str:
    """A number with its sign; JSON has ±1e308 where it is infinite."""
    return f"{support:+.3f}" if abs(support) < 1e300 else f"{support:+.0e}"[0] + "inf"


def _aligned(rows: list[list[str]]) -> str:
    """Rows of text with columns below each other; the first is flush left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if at in (0, len(row) - 1) else cell.rjust(width)
                 for at, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
