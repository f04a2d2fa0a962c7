import random, re
import pytest
from tests.graph.test_ingest_order import *
def test_loop(db, capsys):
    base = build(CORPUS)
    seen = {}
    for seed in range(12):
        r = random.Random(seed); items = list(CORPUS); r.shuffle(items)
        splits = sorted(r.sample(range(len(items)), r.randint(0,4)))
        for d in differences(base, build(items, splits)):
            seen.setdefault(d.split(":\n")[0], []).append((seed, d))
    with capsys.disabled():
        print(len(seen))
        for k, v in seen.items(): print("==", len(v), v[0][0], v[0][1])
