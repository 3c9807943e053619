"""Writes golden.json: what other tools say about tails, quantiles, tests and beliefs.

    pip install scipy==1.17.1 statsmodels==0.15.0 baycomp==1.0.3 numpy==2.4.6
    python testdata/stats/make.py > testdata/stats/golden.json

SciPy: tails of distributions, quantiles of the studentized range, Friedman's and Wilcoxon's tests, and
both together with statsmodels for one method against each other.
statsmodels: Holm, and the analysis of variance of ranks, whose F is that of Iman and Davenport.
baycomp: the Bayesian signed-rank test, by sampling, so with a tolerance of its own.
"""

import json

import baycomp
import numpy
import pandas
import scipy
import statsmodels
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests

VERSIONS = (
    f"SciPy {scipy.__version__}, statsmodels {statsmodels.__version__}, baycomp 1.0.3, "
    f"numpy {numpy.__version__}"
)
rng = numpy.random.default_rng(1)


def numbers(values):
    return [float(value) for value in values]


def tails():
    for z in (-3.0, 0.0, 0.5, 1.96, 5.0, 12.0):
        yield {"of": "normal", "x": z, "degrees": [], "p": float(stats.norm.sf(z))}
    for degrees in (1, 3, 7, 99):
        for x in (0.01, 0.5, 3.0, 15.12, 140.0, 400.0):
            p = float(stats.chi2.sf(x, degrees))
            yield {"of": "chi-squared", "x": x, "degrees": [degrees], "p": p}
    for above, below in ((1, 1), (3, 87), (7, 217), (99, 98901)):
        for x in (0.01, 0.9, 1.2, 5.1, 60.0):
            p = float(stats.f.sf(x, above, below))
            yield {"of": "F", "x": x, "degrees": [above, below], "p": p}


def quantiles():
    for k in [*range(2, 21), 30, 40, 50, 60, 70, 80, 90, 100, 1000]:
        for alpha in (0.1, 0.05, 0.01):
            q = float(stats.studentized_range.ppf(1 - alpha, k, numpy.inf))
            yield {"k": k, "alpha": alpha, "q": q}


def friedman():
    for n, k, decimals in ((5, 3, 6), (30, 4, 6), (30, 4, 2), (12, 8, 1), (40, 10, 1), (7, 3, 0)):
        losses = numpy.round(rng.random((n, k)) + numpy.arange(k) * 0.03, decimals)
        ranks = stats.rankdata(losses, axis=1)
        tested = stats.friedmanchisquare(*losses.T)
        cells = pandas.DataFrame(
            [(s, m, ranks[s, m]) for s in range(n) for m in range(k)],
            columns=["dataset", "method", "rank"],
        )
        f = anova_lm(ols("rank ~ C(method) + C(dataset)", data=cells).fit()).loc["C(method)"]
        yield {
            "losses": [numbers(row) for row in losses],
            "statistic": float(tested.statistic),
            "p": float(tested.pvalue),
            "f": float(f["F"]),
            "f_p": float(f["PR(>F)"]),
        }


def differences():
    for n in (5, 12, 30, 49):
        yield rng.normal(0.05, 0.2, n)
    yield rng.normal(0.02, 0.2, 60)
    for n, decimals in ((10, 1), (30, 2), (30, 1), (80, 1)):
        yield numpy.round(rng.normal(0.05, 0.15, n), decimals)
    # Zeros without other ties.
    yield numpy.concatenate([rng.normal(0.1, 0.2, 17), [0.0]])
    yield numpy.concatenate([rng.normal(0.1, 0.2, 17), [0.0] * 5])


def wilcoxon():
    for d in differences():
        d = numpy.round(d, 10)
        for zeros in ("wilcox", "pratt", "zsplit"):
            nonzero = d[d != 0]
            is_plain = len(nonzero) == len(d) and len(set(abs(d))) == len(d)
            for method in ("exact", "asymptotic"):
                if method == "exact" and not is_plain:
                    continue
                correct = method == "asymptotic"
                tested = stats.wilcoxon(d, zero_method=zeros, correction=correct, method=method)
                yield {
                    "differences": numbers(d),
                    "zeros": zeros,
                    "method": method,
                    "n": len(nonzero),
                    "w": float(tested.statistic),
                    "p": float(tested.pvalue),
                }


def holm():
    for n in (1, 3, 6, 28):
        p = rng.random(n) ** 3
        yield {"p": numbers(p), "adjusted": numbers(multipletests(p, method="holm")[1])}


def beliefs():
    for n, shift, region in ((8, 0.1, 0.0), (30, 0.02, 0.01), (30, 0.0, 0.05), (15, -0.08, 0.02)):
        d = rng.normal(shift, 0.1, n)
        # baycomp's "left" is a greater first argument, as for accuracies.
        tested = baycomp.SignedRankTest(d, numpy.zeros(n), rope=region, nsamples=200_000, random_state=1)
        worse, equivalent, better = tested.probs()
        yield {
            "differences": numbers(d),
            "region": region,
            "better": float(better),
            "equivalent": float(equivalent),
            "worse": float(worse),
        }


def controls():
    """One method against each other: Wilcoxon's exact p, by Holm over k - 1 tests; Dunn's quantile."""
    own = numpy.random.default_rng(2)
    for n, k, control in ((8, 3, 0), (12, 6, 2), (30, 6, 5), (20, 10, 4)):
        losses = numpy.round(own.random((n, k)) * 0.3 + numpy.arange(k) * 0.04, 6)
        others = [m for m in range(k) if m != control]
        p = [
            float(stats.wilcoxon(numpy.round(losses[:, control] - losses[:, m], 10), method="exact").pvalue)
            for m in others
        ]
        yield {
            "losses": [numbers(row) for row in losses],
            "control": control,
            "p": p,
            "p_holm": numbers(multipletests(p, method="holm")[1]),
            "q": {str(a): float(stats.norm.ppf(1 - a / (2 * (k - 1)))) for a in (0.1, 0.05, 0.01)},
        }


golden = {
    "tool": VERSIONS,
    "command": "python testdata/stats/make.py",
    "tolerance": {"p": 1e-9, "q": 1e-6, "belief": 0.01},
    "tails": list(tails()),
    "quantiles": list(quantiles()),
    "friedman": list(friedman()),
    "wilcoxon": list(wilcoxon()),
    "holm": list(holm()),
    "beliefs": list(beliefs()),
    "controls": list(controls()),
}
sections = (f'"{name}": {json.dumps(value)}' for name, value in golden.items())
print("{" + ",\n".join(sections) + "}")
