"""Words and weights of texts by scikit-learn: python testdata/texts/make.py > testdata/texts/golden.json.

Words of one letter, of scripts without blanks between words, and emoji are ours alone (docs/methods.md); everything
else is the same in both.
"""

import os
import sys

import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from golden import write

TICKETS = [
    "Hello. The INVOICE shows the wrong amount; please correct the bill!",
    "I was charged twice this month. please correct the bill",
    "the app crashes at start (version 2_1 on Android)",
    "the app crashes, the app freezes: the App is broken",
    "",
    "Straße und Brücke, naïve façade; ЗДРАВСТВУЙТЕ мир мир",
    "здравствуйте ещё раз: 100 % der Straße",
    "... --- !!!",
    "don't worry, it's 2024-01-31 and e-mail works",
]
NEW = ["the invoice of the app", "nothing known", "", "Мир, straße and THE the the bill"]


def case(name, train, **options):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), **options)
    vectorizer.fit(train)
    cells = lambda row: [[int(term), float(weight)] for term, weight in sorted(zip(row.indices, row.data))]
    weights = [cells(vectorizer.transform([text]).tocsr()[0]) for text in train + NEW]
    return {"name": name, "train": train, "new": NEW, "min_documents": options["min_df"], "terms": list(vectorizer.get_feature_names_out()), "weights": weights}


write("texts", "scikit-learn", sklearn.__version__, 1e-12, [case("all words", TICKETS, min_df=1), case("words of two texts", TICKETS, min_df=2)])
