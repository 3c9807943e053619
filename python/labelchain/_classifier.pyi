# Written by python -m labelchain._stub from the declarations of the library. Do not edit.
import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ._explanation import Explanation

class LabelChainClassifier(ClassifierMixin, BaseEstimator):
    classes_: Any
    label_names_: list[str]
    n_features_in_: int
    feature_names_in_: np.ndarray
    def __init__(
        self,
        method: str = 'certain-forest',
        aim: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        *,
        verbose: bool = False,
        text: str | Sequence[str] | None = None,
        members: int = 20,
        vote_ties: Literal['irrelevant', 'relevant'] = 'irrelevant',
        sample: float = 0.66,
        fit_share: float = 0.6,
        max_imbalance: float | None = 20.0,
        select: Literal['cfs', 'none'] = 'cfs',
        max_features: int = 300,
        min_documents: int = 2,
        max_words: int = 20000,
        likelihood: Literal['auto', 'gaussian', 'weka', 'discretized', 'kernel'] = 'auto',
        updatable: bool = False,
        neighbours: int | str = 'auto',
        metric: Literal['euclidean', 'weka'] = 'euclidean',
        ties: Literal['lower-row', 'weka'] = 'lower-row',
        confidence: float = 0.25,
        min_leaf: int = 2,
        unpruned: bool = False,
        binary_splits: bool = False,
        kernel: Literal['rbf', 'linear'] = 'rbf',
        cost: float | str = 'auto',
        gamma: float | str = 'auto',
        grid_criterion: Literal['accuracy', 'macro-f1'] = 'accuracy',
        trees: int = 100,
        split_features: int | float | str = 'sqrt',
        forest_leaf: int = 1,
        extra_trees: bool = False,
        importance: Literal['gain', 'permutation'] = 'gain',
        trust: float | str = 'auto',
        decay: float | str = 'auto',
        candidates: int | None = None,
        search_rows: Literal['held-out', 'out-of-bag', 'training'] = 'held-out',
        population: int = 50,
        generations: int = 100,
        crossover: float = 0.9,
        mutation: float | None = None,
        diversity: Literal['precedence', 'adjacency', 'positional', 'hamming', 'cayley', 'ulam', 'none'] | None = 'precedence',
        order: str | Sequence[str] = 'random',
        orders: int = 20,
        lenders: int = 1,
    ) -> None: ...
    def fit(self, X: Any, Y: Any = None) -> LabelChainClassifier: ...
    def update(self, X: Any, Y: Any = None, *, new_labels: str = 'refuse', new_values: str = 'refuse', max_trees: int | None = None) -> LabelChainClassifier: ...
    def predict(self, X: Any, aim: str | None = None, known: Any = None) -> Any: ...
    def predict_proba(self, X: Any, known: Any = None) -> np.ndarray: ...
    def decision_function(self, X: Any, known: Any = None) -> np.ndarray: ...
    def predict_tags(self, X: Any, aim: str | None = None, known: Any = None) -> list[list[str]]: ...
    def explain(self, X: Any, row: int | None = None, *, aim: str | None = None, known: Any = None, ask: bool = False) -> Explanation: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def set_params(self, **params: Any) -> LabelChainClassifier: ...
    @property
    def feature_importances_(self) -> np.ndarray: ...
    @property
    def out_of_bag_losses_(self) -> dict[str, float] | None: ...

def load(path: str | os.PathLike[str], *, max_memory: int | None = None) -> LabelChainClassifier: ...
