"""Multi-label learning with classifier chains that choose their label order for each row.

From a table to named answers:

>>> import numpy as np
>>> import labelchain as lc
>>> X = np.array([[72, 3], [80, 4], [75, 9], [90, 8], [128, 2], [140, 3], [130, 9], [150, 8]])
>>> Y = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1],
...               [0, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]])
>>> clf = lc.LabelChainClassifier("ecc-nb", members=10).fit(X, Y)
>>> clf.predict([[135, 9]])
array([[0, 1, 1]])

===============================  =======================================================
to                               see
===============================  =======================================================
train, predict, explain          `LabelChainClassifier`
read a file                      `read`: ARFF, CSV, TSV, JSON lines, Parquet, SVMLight
keep a model                     `LabelChainClassifier.save` and `load`; the file is that
                                 of the program ``labelchain``
know which methods there are     `methods`, `aims`, `settings`
measure how wrong answers are    `losses`, `label_measures`
cut rows into folds              `IterativeStratifiedKFold`
measure several estimators       `evaluate`: ours and any of scikit-learn, on the same folds
compare them over many sets      `compare`: ranks, tests, figures, a report
===============================  =======================================================

Everything random is drawn by ``random_state``: the same number gives the same model, to the last
bit, whatever the number of threads, and the same as that of the program.
"""

from ._classifier import LabelChainClassifier, load
from ._comparison import Comparison, compare
from ._dataset import Dataset, read
from ._evaluation import evaluate
from ._explanation import Explanation
from ._folds import IterativeStratifiedKFold
from ._labelchain import (
    ContentError,
    DataError,
    InternalError,
    LabelChainError,
    LimitError,
    RequestError,
    __version__,
)
from ._losses import label_measures, losses
from ._registry import Setting, aims, methods, settings
from ._warnings import DataWarning

__all__ = [
    "Comparison",
    "ContentError",
    "DataError",
    "DataWarning",
    "Dataset",
    "Explanation",
    "InternalError",
    "IterativeStratifiedKFold",
    "LabelChainClassifier",
    "LabelChainError",
    "LimitError",
    "RequestError",
    "Setting",
    "__version__",
    "aims",
    "compare",
    "evaluate",
    "label_measures",
    "load",
    "losses",
    "methods",
    "read",
    "settings",
]
