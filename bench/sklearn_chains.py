"""Twenty of scikit-learn's classifier chains, each in a random order and on 66 % of the rows.

    python bench/sklearn_chains.py FILE.arff [knn]

Of naive Bayes, or of the five nearest neighbours.
"""

import sys

import numpy as np
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from crossvalidate import main


def predict(inputs, labels, new, seed):
    rng = np.random.default_rng(seed)
    votes = np.zeros((len(new), labels.shape[1]))
    for member in range(20):
        rows = rng.permutation(len(inputs))[:int(0.66 * len(inputs))]
        base = KNeighborsClassifier(5) if sys.argv[2:] == ["knn"] else GaussianNB()
        chain = ClassifierChain(base, order="random", random_state=member)
        votes += chain.fit(inputs[rows], labels[rows]).predict(new)
    return votes / 20 > 0.5


if __name__ == "__main__":
    main(predict)
