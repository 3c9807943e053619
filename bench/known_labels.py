"""What are known labels worth at prediction, and what do unknown ones cost in training?

    python3 bench/known_labels.py PROGRAM DIRECTORY [TABLE …] [--repeats N] [--figure FILE.svg]

PROGRAM is the executable, DIRECTORY has the paper's data sets, and a TABLE is one of

    unknown   losses where a share of the training cells is blank: learned from, rows dropped, irrelevant
    known     losses of half of the labels of each test row where some of the others are known
    ask       wrong labels of a row after one label was asked for: by gain, the least certain, any

By default all three, each on two thirds of the rows, tested on the rest, as tables in Markdown. Nothing
but Python's standard library is needed. The figure shows the table `known`.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import tempfile

LOSSES = ["hamming", "macro_f1", "micro_f1", "zero_one"]


class Bench:
    def __init__(self, program, directory, place):
        self.program, self.directory, self.place = program, directory, place

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr.splitlines()[0])
        return done.stdout

    def path(self, name):
        return os.path.join(self.place, name)

    def load(self, name, seed):
        """Column names, label columns, and rows to train on and to test."""
        file = self.path(name + ".csv")
        if not os.path.exists(file):
            self.run("convert", os.path.join(self.directory, name + ".arff.gz"), file)
        self.labels = json.loads(self.run("describe", file, "--json"))["label_names"]
        with open(file, newline="") as lines:
            head, *rows = csv.reader(lines)
        self.head, self.columns = head, [head.index(label) for label in self.labels]
        random.Random(seed).shuffle(rows)
        n = len(rows) * 2 // 3
        return rows[:n], rows[n:]

    def write(self, name, rows):
        with open(self.path(name), "w", newline="") as file:
            csv.writer(file).writerows([self.head, *rows])

    def train(self, rows, method, missing="refuse"):
        self.write("train.csv", rows)
        how = ["--labels", ",".join(self.labels), "--missing-labels", missing]
        self.run("train", self.path("train.csv"), *how, "-m", method, "-o", self.path("model"), "--force")

    def predict(self, rows, *more):
        """Answers for rows, by label."""
        self.write("test.csv", rows)
        self.run("predict", self.path("model"), self.path("test.csv"), "-o", self.path("out.csv"), *more)
        with open(self.path("out.csv"), newline="") as lines:
            return list(csv.reader(lines))[1:]

    def without(self, row, is_blank):
        """The row, some of whose labels are blank, by their place among the labels."""
        row = row[:]
        for at, column in enumerate(self.columns):
            if is_blank(at):
                row[column] = ""
        return row

    def unknown(self, repeats):
        print("| set | method | blank | way | rows | Hamming | macro F1 | micro F1 | zero-one |\n" + "|---" * 9 + "|")
        for name in ["emotions", "yeast", "scene"]:
            for method in ["ecc-nb", "ecc-knn", "certain-forest"]:
                found = {}
                for seed in range(repeats):
                    train, test = self.load(name, seed)
                    self.score(found, (0, "all known"), train, test, method, "refuse")
                    for share in [0.1, 0.3, 0.5]:
                        rng = random.Random(f"{name}{share}{seed}")
                        blank = [self.without(row, lambda _: rng.random() < share) for row in train]
                        whole = [row for row in blank if all(row[at] for at in self.columns)]
                        self.score(found, (share, "learn"), blank, test, method, "learn")
                        self.score(found, (share, "drop"), whole, test, method, "refuse")
                        self.score(found, (share, "irrelevant"), blank, test, method, "irrelevant")
                for (share, way), runs in found.items():
                    n = sum(n for n, _ in runs) / len(runs)
                    means = [sum(losses[key] for _, losses in runs) / len(runs) for key in LOSSES] if all(losses for _, losses in runs) else []
                    cells = [f"{mean:.4f}" for mean in means] or ["too few rows", "", "", ""]
                    print(f"| {name} | {method} | {share:.0%} | {way} | {n:.0f} | {' | '.join(cells)} |", flush=True)

    def score(self, found, key, train, test, method, missing):
        losses = None
        try:
            self.train(train, method, missing)
            self.predict(test)
            both = [self.path("test.csv"), self.path("out.csv"), "--labels", ",".join(self.labels)]
            losses = json.loads(self.run("score", *both, "--json"))["losses"]
        except ValueError as error:
            if "rows" not in str(error):
                raise
        found.setdefault(key, []).append((len(train), losses))

    def known(self, _):
        self.curves = {}
        print("| set | method | loss | none known | 1 | 2 | half |\n" + "|---" * 7 + "|")
        for name in ["emotions", "yeast"]:
            for method in ["ecc-nb", "certain-nb", "ecc-knn", "certain-forest"]:
                train, test = self.load(name, 1)
                self.train(train, method)
                n = len(self.labels)
                rng = random.Random(7)
                orders = [rng.sample(range(n), n) for _ in test]
                cells = []
                for n_known in [0, 1, 2, n // 2]:
                    rows = [self.without(row, lambda at: at not in order[:n_known]) for row, order in zip(test, orders)]
                    answers = self.predict(rows, "--known")
                    pairs = [
                        (row[self.columns[at]] == "1", answer[at] == "1")
                        for row, order, answer in zip(test, orders, answers)
                        for at in order[n // 2 :]
                    ]
                    wrong, hits = sum(truth != said for truth, said in pairs), sum(truth and said for truth, said in pairs)
                    cells.append((wrong / len(pairs), wrong / (2 * hits + wrong)))
                self.curves[name, method] = [hamming for hamming, _ in cells]
                for title, at in [("Hamming", 0), ("micro F1", 1)]:
                    print(f"| {name} | {method} | {title} | {' | '.join(f'{cell[at]:.4f}' for cell in cells)} |", flush=True)

    def ask(self, _, n_rows=150):
        print("| set | method | nothing asked | by gain | least certain | any |\n" + "|---" * 6 + "|")
        for method in ["ecc-nb", "certain-nb"]:
            train, test = self.load("emotions", 1)
            test = test[:n_rows]
            self.train(train, method)
            before, rng = self.predict(test), random.Random(3)
            asked = [[], [], []]
            for row in range(len(test)):
                which = ["explain", self.path("model"), self.path("test.csv"), "--row", str(row), "--ask", "--json"]
                questions = json.loads(self.run(*which))["ask"]
                unsure = min(questions, key=lambda question: abs(question["probability"] - 0.5))
                asked[0].append(self.labels.index(questions[0]["label"]))
                asked[1].append(self.labels.index(unsure["label"]))
                asked[2].append(rng.randrange(len(self.labels)))
            wrong = lambda answers: sum(
                (answer[at] == "1") != (row[column] == "1")
                for row, answer in zip(test, answers)
                for at, column in enumerate(self.columns)
            ) / len(test)
            cells = [wrong(before)]
            for labels in asked:
                rows = [self.without(row, lambda at: at != label) for row, label in zip(test, labels)]
                cells.append(wrong(self.predict(rows, "--known")))
            print(f"| emotions | {method} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)


def figure(curves):
    """A panel for each set, a line for each method: the loss of half of the labels by how many others are known."""
    sets, methods = list(dict.fromkeys(name for name, _ in curves)), list(dict.fromkeys(of for _, of in curves))
    colours = ["#0072b2", "#56b4e9", "#e69f00", "#009e73"]
    width, height, top, most = 300, 220, 40, max(max(losses) for losses in curves.values())
    parts = []
    for at, method in enumerate(methods):
        x = 50 + 150 * at
        parts.append(f'<path d="M{x} 14h22" stroke="{colours[at]}" stroke-width="3"/><text x="{x + 28}" y="18">{method}</text>')
    for panel, name in enumerate(sets):
        left, right, bottom = 50 + panel * (width + 40), 30 + (panel + 1) * (width + 40) - 20, top + height
        x_of = lambda step: left + (right - left) * step / 3
        y_of = lambda loss: bottom - height * loss / most
        parts.append(f'<text x="{(left + right) / 2}" y="{top - 6}" text-anchor="middle">{name}</text>')
        for step, text in enumerate(["none", "1", "2", "half"]):
            parts.append(f'<text x="{x_of(step):.1f}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
        for tick in [0, 0.05, 0.1, 0.15, 0.2]:
            parts.append(f'<path d="M{left} {y_of(tick):.1f}H{right}" stroke="#ddd"/><text x="{left - 6}" y="{y_of(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        for at, method in enumerate(methods):
            points = [(x_of(step), y_of(loss)) for step, loss in enumerate(curves[name, method])]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colours[at]}"/>' for x, y in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colours[at]}" stroke-width="2"/>{marks}')
    size = f'width="{len(sets) * (width + 40) + 30}" height="{top + height + 44}"'
    caption = f'<text x="50" y="{top + height + 36}">labels of a row that are known; Hamming loss of the others, smaller is better</text>'
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>\n{body}\n{caption}\n</svg>\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("directory")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="unknown, known or ask")
    parser.add_argument("--repeats", type=int, default=1, help="random cuts of the rows for `unknown`")
    parser.add_argument("--figure", metavar="FILE.svg", help="where to draw the table `known`")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(arguments.program, arguments.directory, place)
        for table in arguments.tables or ["unknown", "known", "ask"]:
            getattr(bench, table)(arguments.repeats)
            print()
        if arguments.figure:
            with open(arguments.figure, "w") as file:
                file.write(figure(bench.curves))


if __name__ == "__main__":
    main()
