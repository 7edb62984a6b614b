#!/usr/bin/env python3
"""Compares extract, bfs, cc, sample and .npz of hiveblas with NetworkX and SciPy.

scripts/parts.py build/hiveblas graph.mtx.gz
"""
import gzip
import os
import random
import subprocess
import sys
import tempfile

try:
    import networkx as nx
    import scipy.io
    import scipy.sparse as sp
except ImportError as e:
    print("skipped:", e)
    sys.exit(0)

if len(sys.argv) != 3:
    sys.exit(__doc__)
program, path = sys.argv[1:]
a = scipy.io.mmread(gzip.open(path) if path.endswith(".gz") else path).tocsr()
g = nx.from_scipy_sparse_array(a, create_using=nx.DiGraph)


def run(command, *args):
    return subprocess.run([program, command, path, *args], check=True, capture_output=True, text=True).stdout


def fields(text):
    return [line.split("\t") for line in text.splitlines()]


def edges(text):
    return {(int(f[0]), int(f[1])) for f in fields(text)}


components = sorted(nx.weakly_connected_components(g), key=len, reverse=True)
assert edges(run("extract", "--largest", "-o", "-")) == set(g.subgraph(components[0]).edges())
v = max(g.nodes, key=g.out_degree)
for k in (0, 1, 2):
    ego = run("extract", "--ego", str(v), "--hops", str(k), "-o", "-")
    assert edges(ego) == set(nx.ego_graph(g, v, radius=k).edges()), k
assert [int(f[1]) for f in fields(run("cc", "--sizes", "-o", "-"))] == [len(c) for c in components]

sources = random.Random(1).sample(sorted(components[0]), 3)
levels = fields(run("bfs", "--source", ",".join(map(str, sources)), "-o", "-"))
want = nx.multi_source_dijkstra_path_length(g, set(sources), weight=None)
assert {int(f[0]): int(f[1]) for f in levels} == want

burnt = edges(run("sample", "--forest-fire", "500", "-o", "-"))
vertices = {v for e in burnt for v in e}
assert len(vertices) <= 500 and burnt == set(g.subgraph(vertices).edges())

with tempfile.TemporaryDirectory() as folder:
    for layout in ("csr", "csc", "coo"):
        npz = os.path.join(folder, layout + ".npz")
        run("convert", npz, "--layout", layout)
        b = sp.load_npz(npz)
        assert b.format == layout and (b.astype(float) != a.astype(bool).astype(float)).nnz == 0
print(f"{path}: all agree, {len(g)} vertices, {g.number_of_edges()} edges")
