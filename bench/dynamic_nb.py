"""Dynamic chains of naive Bayes in NumPy: labelchain's method (--select none --decay 1) as matrix products.

    python bench/dynamic_nb.py FILE.arff [ecc]

One loop over members to fit and one over labels to decide; all rows, and in the latter all members,
at once. Two shortcuts that labelchain does not take: the variance has scikit-learn's floor instead of
WEKA's, and memberships that vanish beside that of the nearest row count as none.
"""

import sys

import numpy as np

from crossvalidate import main

K, SAMPLE, FIT_SHARE, MAX_IMBALANCE, DECAY = 20, 0.66, 0.6, 20, 1.0


def thin(classes, rng):
    """Of a label's common class, at most MAX_IMBALANCE rows for each of the other."""
    counts = classes.sum(1)
    limits = np.maximum(counts[::-1], 1) * MAX_IMBALANCE
    for y, label in np.argwhere(counts > limits):
        rows = np.flatnonzero(classes[y, :, label])
        classes[y, rng.permutation(rows)[int(limits[y, label]):], label] = 0


def fit(powers, labels, rng):
    """Log-odds of every label as a linear function of inputs and their squares, and what labels say of labels.

    powers is [x, x², y]; evidence[h, l, j] is what decision h on label l adds to the log-odds of label j.
    """
    n_labels = labels.shape[1]
    d = (powers.shape[1] - n_labels) // 2
    classes = np.stack([~labels, labels]).astype(float)
    thin(classes, rng)
    n = classes.sum(1)[:, :, None]
    sums = classes.transpose(0, 2, 1) @ powers
    means, squares, together = np.split(sums / np.maximum(n, 1), [d, 2 * d], axis=2)
    variances = squares - means**2
    variances = np.maximum(variances, 0) + 1e-9 * variances.max()
    linear = means / variances
    constant = -0.5 * (np.log(variances) + means * linear).sum(2) + np.log(n[:, :, 0] + 1)
    relevant = (together * n + 1) / (n + 2)
    says = np.log(np.stack([1 - relevant, relevant]))
    weights = np.hstack([linear[1] - linear[0], 0.5 * (1 / variances[0] - 1 / variances[1])])
    return weights.T, constant[1] - constant[0], (says[:, 1] - says[:, 0]).transpose(0, 2, 1)


def memberships(train, test):
    """exp(-β d²) of every training row for every new one, divided by that of the nearest."""
    distances = (train**2).sum(1)[:, None] - 2 * (train @ test.T)
    distances -= distances.min(0)
    return np.exp(-DECAY * distances)


def local_f1(weights, relevant, said):
    n_labels = relevant.shape[1]
    sums = weights.T @ np.hstack([relevant & said, relevant ^ said]).astype(float)
    hits, errors = 2 * sums[:, :n_labels], sums[:, n_labels:]
    return hits / np.maximum(hits + errors, np.finfo(float).tiny)


def decide(scores, evidence, orders):
    """Walks the labels in the order of each row, for all members at once."""
    members, rows = np.ogrid[:scores.shape[0], :scores.shape[1]]
    decisions = np.zeros(scores.shape, bool)
    for at in range(scores.shape[2]):
        label = orders[:, :, at]
        relevant = scores[members, rows, label] > 0
        decisions[members, rows, label] = relevant
        scores += evidence[members, relevant.astype(int), label]
    return decisions


def predict(inputs, labels, new, seed, dynamic=True):
    rng = np.random.default_rng(seed)
    center, scale = inputs.mean(0), inputs.std(0, ddof=1)
    scale[scale == 0] = 1
    inputs, new = (inputs - center) / scale, (new - center) / scale
    powers, new_powers = np.hstack([inputs, inputs**2, labels]), np.hstack([new, new**2])
    n_sample = int(SAMPLE * len(inputs))
    n_fit = int(FIT_SHARE * n_sample)
    near = memberships(inputs, new) if dynamic else None
    scores, evidence, orders = [], [], []
    for _ in range(K):
        sample = rng.permutation(len(inputs))[:n_sample]
        fitting, validation = sample[:n_fit], sample[n_fit:]
        weights, constant, says = fit(powers[fitting], labels[fitting], rng)
        scores.append(new_powers @ weights + constant)
        evidence.append(says)
        if dynamic:
            alone = powers[validation, :len(weights)] @ weights + constant > 0
            f1 = local_f1(near[validation], labels[validation], alone)
            orders.append(np.argsort(-f1, axis=1, kind="stable"))
        else:
            orders.append(np.tile(rng.permutation(labels.shape[1]), (len(new), 1)))
    votes = decide(np.array(scores), np.array(evidence), np.array(orders))
    return votes.mean(0) > 0.5


if __name__ == "__main__":
    main(lambda *arguments: predict(*arguments, dynamic="ecc" not in sys.argv[2:]))
