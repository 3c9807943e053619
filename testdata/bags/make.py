"""Writes golden.json: small bags, how far others find them apart, and their medoids.

    pip install scipy==1.17.1 numpy==2.4.6 kmedoids==0.5.5
    python testdata/bags/make.py > testdata/bags/golden.json

"distances" are the greater of SciPy's two directed Hausdorff distances, "alternating" and "pam" the
medoids of the kmedoids package, sorted: alternation from BUILD, and BUILD with swaps. Distances agree
to 1e-12, medoids are the same.
"""

import json
from importlib.metadata import version

import kmedoids
import numpy
import scipy
from scipy.spatial.distance import directed_hausdorff

random = numpy.random.default_rng(7)
sets = []
for n_bags, width, most, k in [(11, 1, 1, 2), (12, 2, 4, 3), (30, 3, 20, 5), (40, 9, 9, 8)]:
    centres = random.normal(size=(k, width)) * 3
    bags = []
    for _ in range(n_bags):
        size = int(random.integers(1, most + 1))
        bag = centres[random.integers(k)] + random.normal(size=(size, width))
        bags.append(bag.round(3))

    def distance(a, b):
        return max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])

    distances = numpy.array([[distance(a, b) for b in bags] for a in bags])
    build = kmedoids.pam_build(distances, k)
    sets.append({
        "bags": [bag.tolist() for bag in bags],
        "k": k,
        "distances": distances.tolist(),
        "alternating": sorted(kmedoids.alternating(distances, build.medoids.copy()).medoids.tolist()),
        "pam": sorted(kmedoids.pam(distances, build.medoids.copy()).medoids.tolist()),
    })
versions = f"scipy {scipy.__version__}, numpy {numpy.__version__}, kmedoids {version('kmedoids')}"
print(json.dumps({"tools": versions, "tolerance": 1e-12, "sets": sets}))
