"""Re-derives every prediction of a model from its description and the data alone.

    rederive.py TRAIN.csv ROWS.csv SHOW.json EXPLAIN.jsonl

Written from the method's definition, not from the program: plain Python, one formula at a time.
Checks standardizing, the sizes of every draw, and for every row and member local F1, order, support
and decision, then the vote. Says how much was compared, or what differs first.
"""

import csv
import json
import math
import sys

TOLERANCE = 1e-9


def fail(text):
    sys.exit("differs: " + text)


def close(what, ours, theirs, tolerance=TOLERANCE):
    if ours in (math.inf, -math.inf):
        ours = math.copysign(1e308, ours)
    if not abs(ours - theirs) <= tolerance * max(1.0, abs(ours)):
        fail(f"{what}: {ours!r} derived, {theirs!r} said")


def equal(what, ours, theirs):
    if ours != theirs:
        fail(f"{what}: {ours!r} derived, {theirs!r} said")


def read(path, features, labels):
    """Inputs (missing as None, a nominal value as its text) and labels of each row."""
    with open(path, newline="") as file:
        records = list(csv.DictReader(file))

    def cell(record, feature):
        text = record[feature["name"]]
        if text in ("", "?"):
            return None
        if feature["kind"] == "numeric":
            return float(text)
        return text if text in feature["values"] else None

    inputs = [[cell(record, feature) for feature in features] for record in records]
    truth = [[int(record[name]) for name in labels] for record in records]
    return inputs, truth


def moments(values):
    """Mean and sample deviation; a constant is only centred, nothing is left as it is."""
    if not values:
        return 0.0, 1.0
    mean = math.fsum(values) / len(values)
    if len(values) < 2 or min(values) == max(values):
        return mean, 1.0
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


class Normal:
    """A normal of the values of one class, deviation with divisor n, at least precision / 6."""

    def __init__(self, values, precision):
        self.precision, self.mean, self.deviation = precision, 0.0, precision / 6
        if values:
            self.mean = math.fsum(values) / len(values)
            squares = math.fsum((v - self.mean) ** 2 for v in values)
            raw = math.sqrt(squares / len(values))
            if raw > 1e-10:
                self.deviation = max(raw, precision / 6)

    def log_density(self, x):
        return -((x - self.mean) ** 2) / (2 * self.deviation**2) - math.log(self.deviation)

    def log_mass(self, x):
        """log of the mass of the rounding interval around x, in the tail where it is accurate."""
        low = (x - self.mean - self.precision / 2) / self.deviation / math.sqrt(2)
        high = (x - self.mean + self.precision / 2) / self.deviation / math.sqrt(2)
        if low > 0:
            mass = math.erfc(low) - math.erfc(high)
        elif high < 0:
            mass = math.erfc(-high) - math.erfc(-low)
        else:
            mass = math.erf(high) - math.erf(low)
        return math.log(max(mass / 2, 1e-75))


class Numeric:
    def __init__(self, values, classes, likelihood):
        known = [(v, y) for v, y in zip(values, classes) if v is not None]
        distinct = sorted({v for v, _ in known})
        gaps = [b - a for a, b in zip(distinct, distinct[1:])]
        self.precision = math.fsum(gaps) / len(gaps) if gaps else 0.01
        plain = [Normal([v for v, y in known if y == c], self.precision) for c in (0, 1)]
        fine = all(self.precision <= 0.1 * normal.deviation for normal in plain)
        self.by_density = likelihood == "gaussian" or likelihood == "auto" and fine
        self.normals = plain
        if not self.by_density:
            known = [(self.rounded(v), y) for v, y in known]
            self.normals = [Normal([v for v, y in known if y == c], self.precision) for c in (0, 1)]

    def rounded(self, value):
        # Python rounds halves to even.
        return round(value / self.precision) * self.precision

    def log(self, x):
        if self.by_density:
            return [normal.log_density(x) for normal in self.normals]
        return [normal.log_mass(self.rounded(x)) for normal in self.normals]


class Kernels:
    """A normal around each value of one class, summed as WEKA does: up, then down, until the values
    not yet seen would add less than a hundredth were they as near as the last."""

    def __init__(self, values, precision):
        self.precision, self.values = precision, sorted(values)
        width = (self.values[-1] - self.values[0]) / math.sqrt(len(values)) if values else 0
        self.deviation = max(width, precision / 6)

    def mass(self, distance):
        low, high = (
            (distance + side * self.precision / 2) / self.deviation / math.sqrt(2) for side in (-1, 1)
        )
        mass = math.erfc(low) - math.erfc(high) if low > 0 else math.erf(high) - math.erf(low)
        return mass / 2

    def log(self, x):
        if not self.values:
            return math.log(max(self.mass(abs(x)), 1e-75))
        places = sorted(set(self.values))
        total, seen, n = 0.0, 0, len(self.values)
        for side in ([v for v in places if v >= x], [v for v in reversed(places) if v < x]):
            for v in side:
                mass, count = self.mass(abs(v - x)), self.values.count(v)
                total, seen = total + mass * count, seen + count
                if mass * (n - seen) < total * 0.01:
                    break
        return math.log(max(total / n / self.precision, 1e-75))


class Kerneled:
    def __init__(self, values, classes):
        known = [(v, y) for v, y in zip(values, classes) if v is not None]
        distinct = sorted({v for v, _ in known})
        gaps = [b - a for a, b in zip(distinct, distinct[1:])]
        self.precision = max(math.fsum(gaps) / len(gaps) if gaps else 0.01, 1e-6)
        rounded = [(self.rounded(v), y) for v, y in known]
        self.classes = [
            Kernels([v for v, y in rounded if y == c], self.precision) for c in (0, 1)
        ]

    def rounded(self, value):
        return round(value / self.precision) * self.precision

    def log(self, x):
        return [kernels.log(self.rounded(x)) for kernels in self.classes]


def entropy(classes):
    shares = [classes.count(y) / len(classes) for y in (0, 1)]
    return -math.fsum(p * math.log2(p) for p in shares if p > 0)


def cuts(known):
    """Fayyad and Irani's cuts of values in ascending order, each with its class."""
    classes, n = [y for _, y in known], len(known)
    found = []
    for at in range(1, n):
        if known[at - 1][0] < known[at][0]:
            sides = classes[:at], classes[at:]
            mean = math.fsum(len(side) / n * entropy(side) for side in sides)
            # Of equal cuts the lowest; they may differ in their last bits.
            found.append((round(mean, 12), at, sides))
    if not found or len(set(classes)) == 1:
        return []
    mean, at, sides = min(found)
    k, of_sides = len(set(classes)), sum(len(set(side)) * entropy(side) for side in sides)
    cost = math.log2(n - 1) + math.log2(3**k - 2) - (k * entropy(classes) - of_sides)
    if entropy(classes) - mean <= cost / n:
        return []
    return cuts(known[:at]) + [(known[at - 1][0] + known[at][0]) / 2] + cuts(known[at:])


class Discretized:
    """The bins of a numeric input, as if they were named."""

    def __init__(self, values, classes):
        known = sorted((v, y) for v, y in zip(values, classes) if v is not None)
        self.cuts = cuts(known)
        bins = [None if v is None else self.bin(v) for v in values]
        self.nominal = Nominal(bins, classes, range(len(self.cuts) + 1))

    def bin(self, value):
        return sum(cut < value for cut in self.cuts)

    def log(self, x):
        return self.nominal.log(self.bin(x))


class Nominal:
    def __init__(self, values, classes, names):
        self.logs = {}
        of_class = [[v for v, y in zip(values, classes) if y == c and v is not None] for c in (0, 1)]
        for name in names:
            self.logs[name] = [
                math.log((found.count(name) + 1) / (len(found) + len(names))) for found in of_class
            ]

    def log(self, x):
        return self.logs[x]


class Label:
    """What one label of one member learned from its own rows."""

    def __init__(self, label, view, inputs, truth, features, likelihood):
        rows = view["rows"]
        classes = [truth[row][label] for row in rows]
        n = [classes.count(0), classes.count(1)]
        self.prior = [math.log((n[y] + 1) / (len(rows) + 2)) for y in (0, 1)]
        self.factors = []
        for at in view["features"]:
            values = [inputs[row][at] for row in rows]
            if features[at]["kind"] == "numeric" and likelihood == "discretized":
                self.factors.append((at, Discretized(values, classes)))
            elif features[at]["kind"] == "numeric" and likelihood == "kernel":
                self.factors.append((at, Kerneled(values, classes)))
            elif features[at]["kind"] == "numeric":
                self.factors.append((at, Numeric(values, classes, likelihood)))
            else:
                self.factors.append((at, Nominal(values, classes, features[at]["values"])))
        # given[l][v][y] = log P(Y_l = v | this label is y)
        self.given = []
        for other in range(len(truth[0])):
            counts = [[0, 0], [0, 0]]
            for row, y in zip(rows, classes):
                counts[truth[row][other]][y] += 1
            self.given.append(
                [[math.log((counts[v][y] + 1) / (n[y] + 2)) for y in (0, 1)] for v in (0, 1)]
            )

    def evidence(self, x):
        sums = list(self.prior)
        for at, factor in self.factors:
            if x[at] is not None:
                for y, log in enumerate(factor.log(x[at])):
                    sums[y] += log
        return sums

    def support(self, x, decided):
        """Log-odds given the inputs and the labels decided before, as {label: value}."""
        no, yes = self.evidence(x)
        for other, value in decided.items():
            no += self.given[other][value][0]
            yes += self.given[other][value][1]
        return yes - no


class Neighbours:
    """The rows that vote on one label of one member."""

    def __init__(self, label, view, inputs, truth, features, n):
        self.label, self.rows, self.truth, self.n = label, view["rows"], truth, n
        self.columns = view["features"]
        self.features = [features[at] for at in self.columns]
        self.inputs = {row: [inputs[row][at] for at in self.columns] for row in self.rows}

    def support(self, x, decided):
        x = [x[at] for at in self.columns]
        extended = []
        for row in self.rows:
            apart = sum(self.truth[row][other] != value for other, value in decided.items())
            extended.append((squared_distance(x, self.inputs[row], self.features) + apart, row))
        votes = [self.truth[row][self.label] for _, row in sorted(extended)[: self.n]]
        no, yes = votes.count(0), votes.count(1)
        if no == 0 or yes == 0:
            return math.inf * (yes - no)
        return math.log(yes) - math.log(no)


def squared_distance(a, b, features):
    total = 0.0
    for x, v, feature in zip(a, b, features):
        numeric = feature["kind"] == "numeric"
        if x is None or v is None:
            total += 2.0 if numeric else 1.0
        elif numeric:
            total += (x - v) ** 2
        else:
            total += 0.0 if x == v else 1.0
    return total


def log_sum(distances, decay):
    least = min(distances)
    return -decay * least + math.log(math.fsum(math.exp(-decay * (d - least)) for d in distances))


def f1(odds):
    if odds < -700:
        return 0.0
    return 1 / (1 + math.exp(-odds) / 2)


class Lent:
    """Which of a member's orders each of its validation rows lends."""

    def __init__(self, said, n_lenders, member, inputs, truth):
        self.orders, self.rows, self.n_lenders = said["orders"], said["validation_rows"], n_lenders
        self.inputs, self.features = inputs, member.features
        n = len(truth[0])
        equal("orders that are permutations", [], [o for o in self.orders if sorted(o) != list(range(n))])
        equal("different orders", min(20, math.factorial(n)), len({tuple(o) for o in self.orders}))
        self.scores = []
        for row in self.rows:
            answers = [member.walk(inputs[row], order)[1] for order in self.orders]
            self.scores.append([example_f1(answer, truth[row]) for answer in answers])
        self.total = [sum(scores) for scores in zip(*self.scores)]
        # Greatest score on the row, then greatest mean score, then the first.
        places = range(len(self.orders))
        self.assigned = [
            max(places, key=lambda j: (scores[j], self.total[j], -j)) for scores in self.scores
        ]
        equal("assigned orders", self.assigned, said["assigned"])

    def order(self, x):
        near = [squared_distance(x, self.inputs[row], self.features) for row in self.rows]
        asked = sorted(range(len(self.rows)), key=lambda v: (near[v], self.rows[v]))[: self.n_lenders]

        def preferred(j):
            lent = sum(self.assigned[v] == j for v in asked)
            return lent, sum(self.scores[v][j] for v in asked), self.total[j], -j

        best = max(range(len(self.orders)), key=preferred)
        lender = next(v for v in asked if self.assigned[v] == best)
        return self.rows[lender], self.orders[best]


def example_f1(answer, truth):
    right = 2 * sum(a and t for a, t in zip(answer, truth))
    wrong = sum(a != t for a, t in zip(answer, truth))
    return 1 - wrong / (wrong + right) if wrong + right else 1.0


class Member:
    def __init__(self, said, model, inputs, truth):
        self.features, self.decay, self.order = model["features"], model["decay"], said["order"]
        knn = model["method"].endswith("-knn")
        learn, how = (Neighbours, model["neighbours"]) if knn else (Label, model["settings"]["likelihood"])
        self.inputs = inputs
        self.labels = [
            learn(label, view, inputs, truth, self.features, how)
            for label, view in enumerate(said["by_label"])
        ]
        self.lent = None
        if said["orders"] is not None:
            self.lent = Lent(said, model["settings"]["lenders"], self, inputs, truth)
        # Of the validation rows: where binary relevance was right that a label is there (hits), and
        # where it was wrong.
        self.hits = [[] for _ in self.labels]
        self.errors = [[] for _ in self.labels]
        for row in said["validation_rows"]:
            for at, label in enumerate(self.labels):
                told = int(label.support(inputs[row], {}) > 0)
                if told and truth[row][at]:
                    self.hits[at].append(row)
                elif told != truth[row][at]:
                    self.errors[at].append(row)

    def log_odds(self, x, at):
        def distances(rows):
            return [squared_distance(x, self.inputs[row], self.features) for row in rows]

        if not self.hits[at]:
            return -math.inf
        if not self.errors[at]:
            return math.inf
        right, wrong = distances(self.hits[at]), distances(self.errors[at])
        return log_sum(right, self.decay) - log_sum(wrong, self.decay)

    def walk(self, x, order):
        """Support and decision of every label; no label hears of another without an order."""
        n = len(self.labels)
        supports, decisions, decided = [0.0] * n, [0] * n, {}
        for at in range(n) if order is None else order:
            supports[at] = self.labels[at].support(x, decided)
            decisions[at] = int(supports[at] > 0)
            if order is not None:
                decided[at] = decisions[at]
        return supports, decisions

    def check(self, where, method, x, said):
        n = len(self.labels)
        order = self.order
        if self.lent:
            nearest, order = self.lent.order(x)
            equal(f"{where}, nearest", nearest, said["nearest"])
        if method == "dynamic":
            odds = [self.log_odds(x, at) for at in range(n)]
            for at in range(n):
                close(f"{where}, local F1 of label {at}", f1(odds[at]), said["local_f1"][at])
            order = sorted(range(n), key=lambda at: (-odds[at], at))
        else:
            equal(f"{where}, local F1", None, said["local_f1"])
        equal(f"{where}, order", order, said["order"])
        supports, decisions = self.walk(x, order)
        for at in range(n):
            close(f"{where}, support of label {at}", supports[at], said["support"][at])
        equal(f"{where}, decisions", decisions, said["decisions"])
        return decisions


def check_draws(model, truth):
    settings = model["settings"]
    n_drawn = math.floor(settings["sample"] * len(truth))
    n_fitting = math.floor(settings["fit_share"] * n_drawn)
    n_validation = n_drawn - n_fitting
    if model["method"].startswith("ga-"):
        # The validation rows are the same for all, cut off before any member draws.
        n_left = math.floor(settings["fit_share"] * len(truth))
        n_fitting, n_validation = math.floor(settings["sample"] * n_left), len(truth) - n_left
        candidates = [member["candidate"] for member in model["members"]]
        n_candidates = settings["candidates"] or 3 * settings["members"]
        equal("candidates kept twice", len(candidates), len(set(candidates)))
        equal("candidates that are none", [], [at for at in candidates if not 0 <= at < n_candidates])
        common = {tuple(member["validation_rows"]) for member in model["members"]}
        equal("common validation rows", 1, len(common))
    equal("number of members", settings["members"], len(model["members"]))
    n_thinned = 0
    for at, member in enumerate(model["members"]):
        fitting, validation = member["fitting_rows"], member["validation_rows"]
        equal(f"member {at}, rows to fit on", n_fitting, len(set(fitting)))
        equal(f"member {at}, rows to validate on", n_validation, len(set(validation)))
        equal(f"member {at}, rows in both parts", set(), set(fitting) & set(validation))
        for label, view in enumerate(member["by_label"]):
            what = f"member {at}, label {label}, rows"
            equal(what + " not among the fitting ones", set(), set(view["rows"]) - set(fitting))
            before = [sum(truth[row][label] == y for row in fitting) for y in (0, 1)]
            least = min(count for count in before if count > 0)
            most = settings["max_imbalance"] or math.inf
            expected = [math.floor(min(count, most * least)) for count in before]
            kept = [sum(truth[row][label] == y for row in set(view["rows"])) for y in (0, 1)]
            equal(what + " of each class", expected, kept)
            n_thinned += kept != before
    return n_thinned


def main():
    train_path, rows_path, show_path, explain_path = sys.argv[1:]
    with open(show_path) as file:
        model = json.load(file)
    with open(explain_path) as file:
        explained = [json.loads(line) for line in file]
    method, base = model["method"].rsplit("-", 1)
    if base not in ("nb", "knn") or method not in ("dynamic", "ecc", "br", "oocc", "ga", "ga-br"):
        fail(f"cannot re-derive {model['method']}")
    features, labels = model["features"], model["labels"]
    inputs, truth = read(train_path, features, labels)
    queries, _ = read(rows_path, features, labels)

    for at, feature in enumerate(features):
        mean, deviation = model["standardize"]["mean"][at], model["standardize"]["deviation"][at]
        if feature["kind"] == "nominal":
            equal(f"scale of {feature['name']}", [None, None], [mean, deviation])
            continue
        ours = moments([row[at] for row in inputs if row[at] is not None])
        close(f"mean of {feature['name']}", ours[0], mean)
        close(f"deviation of {feature['name']}", ours[1], deviation)
        # From here on their digits, so that no rounding boundary is crossed by a last bit of ours.
        for row in inputs + queries:
            if row[at] is not None:
                row[at] = (row[at] - mean) / deviation

    n_thinned = check_draws(model, truth)
    members = [Member(said, model, inputs, truth) for said in model["members"]]
    equal("number of rows", len(queries), len(explained))
    orders = set()
    for row, (x, said) in enumerate(zip(queries, explained)):
        equal("row", row, said["row"])
        equal(f"row {row}, members", len(members), len(said["members"]))
        votes = [0] * len(labels)
        for at, (member, trace) in enumerate(zip(members, said["members"])):
            decisions = member.check(f"row {row}, member {at}", method, x, trace)
            votes = [vote + decision for vote, decision in zip(votes, decisions)]
            orders.add(tuple(trace["order"] or ()))
        for at, vote in enumerate(votes):
            close(f"row {row}, vote of label {at}", vote / len(members), said["votes"][at])
        relevant = [name for name, vote in zip(labels, votes) if 2 * vote > len(members)]
        equal(f"row {row}, relevant", relevant, said["relevant"])
    print(
        f"equal: {len(queries)} rows, {len(members)} members, {len(labels)} labels, "
        f"{len(orders)} orders, {n_thinned} undersampled labels"
    )


main()
