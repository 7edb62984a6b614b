#!/usr/bin/env python3
"""Compares the commands with NetworkX, igraph and SciPy on real graphs; scripts/communities.py and scripts/parts.py compare others.

    scripts/standard.py [--hiveblas PATH] [--data FOLDER] [--only NAME,NAME] [--quick]

builds the command line if no --hiveblas is given, runs each command on the graphs of FOLDER (default: ../shared/data
beside the checkout), and prints a line for each comparison: the largest difference and the seconds of both, the command's
with reading and starting. It exits with 1 if one disagrees, and with 0 and a reason if the packages or the graphs are
missing. --quick leaves out what takes NetworkX more than a few seconds. No package has ac: its tests have plain forms.
"""

import argparse
import collections
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

try:
    import igraph
    import networkx as nx
    import numpy as np
    import scipy.io
    import scipy.optimize
    import scipy.sparse as sp
    import scipy.sparse.csgraph as csgraph
    import scipy.sparse.linalg as linalg
except ImportError as e:
    print("skipped: %s; install Debian's python3-networkx, python3-igraph and python3-scipy" % e)
    sys.exit(0)

GRAPHS = ["lagraph/karate.mtx", "graphs/dolphins.mtx.gz", "graphs/lesmis.mtx.gz", "graphs/football.mtx.gz", "graphs/celegansneural.mtx.gz",
          "graphs/polblogs.mtx.gz", "graphs/email-Eu-core.mtx.gz", "graphs/netscience.mtx.gz", "graphs/ca-GrQc.mtx.gz",
          "graphs/wiki-Vote.mtx.gz", "graphs/p2p-Gnutella08.mtx.gz"]


class Case:
    """A graph in the forms of all packages."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path).split(".")[0]
        a = sp.csr_matrix(scipy.io.mmread(path), dtype=np.float64)
        pattern = sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape)  # zeros of the file are edges too
        self.a, self.pattern = a, pattern
        self.n = a.shape[0]
        self.symmetric = (pattern != pattern.T).nnz == 0
        coo = pattern.tocoo()
        self.directed = nx.DiGraph()
        self.directed.add_nodes_from(range(self.n))
        self.directed.add_edges_from(zip(coo.row.tolist(), coo.col.tolist()))
        self.simple = nx.Graph(self.directed)
        self.simple.remove_edges_from(list(nx.selfloop_edges(self.simple)))
        self.both = nx.Graph(self.directed)
        self.own = nx.Graph(self.directed) if self.symmetric else self.directed
        half = sp.triu(sp.csr_matrix((pattern + pattern.T) > 0), 1, format="coo")
        self.igraph = igraph.Graph(n=self.n, edges=np.stack([half.row, half.col], axis=1).tolist())
        self.igraph_directed = igraph.Graph(n=self.n, edges=np.stack([coo.row, coo.col], axis=1).tolist(), directed=True)

    def own_neighbours(self, v):
        """The neighbours in either direction, itself if the file has the loop."""
        return self.both[v]


class Tool:
    def __init__(self, program, folder):
        self.program, self.out = program, os.path.join(folder, "out.tsv")

    def run(self, command, path, *flags, output=True):
        """Runs a command; returns its report, the columns of its output, and the seconds."""
        call = [self.program, command, path, "--json", *flags] + (["-o", self.out] if output else [])
        start = time.perf_counter()
        done = subprocess.run(call, capture_output=True, text=True)
        took = time.perf_counter() - start
        if done.returncode != 0:
            raise RuntimeError("%s: %s" % (" ".join(call), done.stderr.strip()))
        lines = [line.rstrip("\n").split("\t") for line in open(self.out)] if output else []
        return json.loads(done.stdout), lines, took

    def vector(self, case, command, *flags):
        report, lines, took = self.run(command, case.path, *flags)
        v = np.zeros((case.n, max([len(x) - 1 for x in lines] + [1])))
        for x in lines:
            v[int(x[0])] = [float(y) for y in x[1:]]
        return report, v, took


def listed(d, n):
    return np.array([d[v] for v in range(n)], dtype=np.float64)


def partition_labels(parts, n):
    label = np.zeros(n)
    for p in parts:
        label[list(p)] = min(p)
    return label


def relative(x, y):
    return float(np.max(np.abs(x - y) / np.maximum(1, np.abs(y)))) if len(x) else 0.0


# Each comparison returns the largest difference, and takes the tool and the case. The reference is timed by clock.

class Clock:
    def __init__(self):
        self.took = 0.0

    def __call__(self, f):
        start = time.perf_counter()
        r = f()
        self.took += time.perf_counter() - start
        return r


def scc(t, c, clock):
    _, v, took = t.vector(c, "scc")
    return relative(v[:, 0], partition_labels(clock(lambda: list(nx.strongly_connected_components(c.directed))), c.n)), took


def kcore(t, c, clock):
    _, v, took = t.vector(c, "kcore")
    return relative(v[:, 0], np.array(clock(c.igraph.coreness), dtype=np.float64)), took


def betweenness(t, c, clock):
    _, v, took = t.vector(c, "betweenness")
    g = c.igraph if c.symmetric else c.igraph_directed
    return relative(v[:, 0], np.array(clock(g.betweenness))), took


def closeness(t, c, clock):
    _, v, took = t.vector(c, "closeness", "--incoming")
    d = clock(lambda: nx.closeness_centrality(c.own))
    return relative(v[:, 0], listed(d, c.n)), took


def harmonic(t, c, clock):
    _, v, took = t.vector(c, "closeness", "--incoming", "--harmonic")
    d = clock(lambda: nx.harmonic_centrality(c.own))
    return relative(v[:, 0], listed(d, c.n)), took


def clustering(t, c, clock):
    report, v, took = t.vector(c, "clustering")
    d = clock(lambda: nx.clustering(c.simple))
    transitivity = c.igraph.transitivity_undirected()
    return max(relative(v[:, 0], listed(d, c.n)), abs(report["transitivity"] - transitivity)), took


def cdlp(t, c, clock):
    _, v, took = t.vector(c, "cdlp")

    def reference():  # Graphalytics' rule, since the packages have other ones
        label = np.arange(c.n)
        both = c.pattern if c.symmetric else c.pattern + c.pattern.T
        for _ in range(10):
            member = sp.csr_matrix((np.ones(c.n), label, np.arange(c.n + 1)), (c.n, c.n))
            count = sp.csr_matrix(both @ member)
            count.sort_indices()
            fresh = label.copy()
            for v in range(c.n):
                row = slice(count.indptr[v], count.indptr[v + 1])
                if row.start < row.stop:
                    fresh[v] = count.indices[row][np.argmax(count.data[row])]
            if (fresh == label).all():
                break
            label = fresh
        return label
    return relative(v[:, 0], clock(reference)), took


def mis(t, c, clock):
    _, v, took = t.vector(c, "mis")
    chosen = set(np.flatnonzero(v[:, 0]).tolist())
    clock(lambda: nx.maximal_independent_set(c.simple, seed=1) if c.n else [])
    bad = sum((u in chosen) == any(w in chosen for w in c.simple[u]) for u in c.simple)
    return float(bad), took


def colour(t, c, clock):
    bad, total = 0.0, 0.0
    for order, strategy in (("largest-first", "largest_first"), ("smallest-last", "smallest_last")):
        report, v, took = t.vector(c, "colour", "--order", order)
        d = clock(lambda: nx.greedy_color(c.simple, strategy))
        bad += sum(v[x, 0] == v[y, 0] for x, y in c.simple.edges)
        if order == "smallest-last" and report["colours"] > max(nx.core_number(c.simple).values()) + 1:
            bad += 1
        if report["colours"] > 1.2 * (max(d.values()) + 1) + 1:  # the ties are others
            bad += 1
        total += took
    return bad, total


def pagerank_personal(t, c, clock):
    _, v, took = t.vector(c, "pagerank", "--seeds", "0,3,5", "--tolerance", "1e-12")
    d = clock(lambda: nx.pagerank(c.directed, personalization={0: 1, 3: 1, 5: 1}, tol=1e-14, max_iter=1000))
    return relative(v[:, 0], listed(d, c.n)), took


def pagerank_weighted(t, c, clock):
    _, v, took = t.vector(c, "pagerank", "--weighted", "--tolerance", "1e-12")
    g = nx.from_scipy_sparse_array(sp.csr_matrix(c.a), create_using=nx.DiGraph)
    d = clock(lambda: nx.pagerank(g, tol=1e-14, max_iter=1000))
    return relative(v[:, 0], listed(d, c.n)), took


def hits(t, c, clock):
    _, v, took = t.vector(c, "hits", "--tolerance", "1e-12", "--max-iterations", "100000")
    hubs = np.array(clock(c.igraph_directed.hub_score))
    authorities = np.array(clock(c.igraph_directed.authority_score))
    return max(np.abs(v[:, 0] - hubs / hubs.sum()).max(), np.abs(v[:, 1] - authorities / authorities.sum()).max()), took


def eigenvector(t, c, clock):
    _, v, took = t.vector(c, "eigenvector", "--tolerance", "1e-12", "--max-iterations", "100000")
    if c.symmetric:
        w, vectors = clock(lambda: linalg.eigsh(c.pattern, k=2, which="LA"))
        x = np.abs(vectors[:, np.argmax(w)])
    else:
        x = np.array(clock(c.igraph_directed.eigenvector_centrality))
    return np.abs(v[:, 0] - x / np.linalg.norm(x)).max(), took


def katz(t, c, clock):
    degree = max(np.bincount(c.pattern.indices, minlength=1))
    alpha = .5 / degree
    _, v, took = t.vector(c, "katz", "--attenuation", repr(float(alpha)), "--tolerance", "1e-12")
    d = clock(lambda: nx.katz_centrality(c.directed, alpha=alpha, tol=1e-13, max_iter=10000))
    return relative(v[:, 0], listed(d, c.n)), took


def similar(t, c, clock):
    report, lines, took = t.run("similar", c.path, "-k", "5")

    def reference():
        common = (c.pattern @ c.pattern.T).tocoo()
        size = np.asarray(c.pattern.sum(axis=1)).ravel()
        keep = common.row != common.col
        row, col, x = common.row[keep], common.col[keep], common.data[keep]
        return row, col, x / (size[row] + size[col] - x)
    row, col, score = clock(reference)
    best = {}
    for r, k, x in zip(row.tolist(), col.tolist(), score.tolist()):
        best.setdefault(r, []).append((-x, k))
    want = {(r, k): -x for r, list in best.items() for x, k in sorted(list)[:5]}
    got = {(int(x[0]), int(x[1])): float(x[2]) for x in lines}
    if want.keys() != got.keys():
        return float(len(want.keys() ^ got.keys())), took
    return max([abs(got[k] - want[k]) for k in got] + [0.0]), took


def msf(t, c, clock):
    report, _, took = t.run("msf", c.path)
    g = nx.Graph()
    g.add_nodes_from(range(c.n))
    zeros = sp.csr_matrix(c.pattern).tocoo()
    for u, v in zip(zeros.row.tolist(), zeros.col.tolist()):
        if u != v:
            w = c.a[u, v] if c.pattern[v, u] == 0 else min(c.a[u, v], c.a[v, u])
            g.add_edge(u, v, weight=w)
    tree = clock(lambda: nx.minimum_spanning_tree(g))
    return abs(report["weight"] - tree.size(weight="weight")) + abs(report["edges"] - tree.number_of_edges()), took


def matching(t, c, clock):
    report, lines, took = t.run("matching", c.path)
    m = clock(lambda: csgraph.maximum_bipartite_matching(c.pattern, perm_type="column"))
    bad = sum(c.pattern[int(x[0]), int(x[1])] == 0 for x in lines)
    return float(abs(report["size"] - (m >= 0).sum()) + bad + abs(len({x[0] for x in lines}) - report["size"])), took


def diameter(t, c, clock):
    report, _, took = t.run("diameter", c.path, output=False)
    d = clock(c.igraph.diameter)
    between = c.igraph.distances(report["from"], report["to"])[0][0]
    return float(abs(report["lower"] - d) + abs(report["upper"] - d) + abs(between - d)), took


def toposort(t, c, clock):
    """The edges towards the greater vertex, which have no cycle."""
    up = sp.triu(c.pattern, 1, format="coo")
    path = os.path.join(os.path.dirname(t.out), "up.mtx")
    scipy.io.mmwrite(path, sp.coo_matrix((np.ones(up.nnz, np.int64), (up.row, up.col)), up.shape))
    report, lines, took = t.run("toposort", path)
    place = {int(x[0]): k for k, x in enumerate(lines)}
    g = nx.DiGraph(list(zip(up.row.tolist(), up.col.tolist())))
    longest = clock(lambda: nx.dag_longest_path_length(g)) if up.nnz else 0
    bad = sum(place[u] >= place[v] for u, v in g.edges) + abs(len(place) - c.n)
    return float(bad + abs(report["levels"] - 1 - longest)), took


def nominate(t, c, clock):
    _, v, took = t.vector(c, "nominate", "--seeds", "0,3,5", "--context", "seeds")
    count = np.asarray(clock(lambda: c.pattern[[0, 3, 5]].sum(axis=0))).ravel()
    count[[0, 3, 5]] = 0
    others = np.delete(count, [0, 3, 5])
    if others.max() > others.min():
        count = (count - others.min()) / (others.max() - others.min())
    count[[0, 3, 5]] = 0
    return relative(v[:, 0], count), took


def plain_context(out, n, seeds, context):
    """The context scores of a graph, given as sets of neighbours, by loops over vertices."""
    if context == "distance":
        far = {v: 0 for v in seeds}
        queue = collections.deque(seeds)
        while queue:
            v = queue.popleft()
            for u in out[v]:
                if u not in far:
                    far[u] = far[v] + 1
                    queue.append(u)
        return [1 / far[v] if far.get(v) else 0.0 for v in range(n)]
    if context == "seeds":
        return [float(sum(v in out[s] for s in seeds)) for v in range(n)]
    if context == "common":
        return [float(sum(len(out[s] & out[v]) for s in seeds)) for v in range(n)]
    rank = [1 / len(seeds) if v in seeds else 0.0 for v in range(n)]
    for _ in range(1000):
        following = [0.0] * n
        lost = 0.0
        for v in range(n):
            if out[v]:
                for u in out[v]:
                    following[u] += 0.85 * rank[v] / len(out[v])
            else:
                lost += 0.85 * rank[v]
        for v in seeds:
            following[v] += (0.15 + lost) / len(seeds)
        change, rank = sum(abs(x - y) for x, y in zip(rank, following)), following
        if change < 1e-14:
            break
    return rank


def plain_nomination(out, n, seeds, context, content, weight):
    """The scores of Coppersmith and Priebe's linear fusion, (1 - weight) context + weight content, both
    scaled to 0...1 over the candidates; None for the seeds."""
    def scaled(x):
        others = [x[v] for v in range(n) if v not in seeds]
        low, high = min(others), max(others)
        return [(y - low) / (high - low) if high - low > 1e-9 * max(abs(low), abs(high)) else 0.0 for y in x]

    a, b = scaled(plain_context(out, n, seeds, context)), scaled(content)
    return [None if v in seeds else (1 - weight) * a[v] + weight * b[v] for v in range(n)]


def nominated(t, path, seeds, context, content, weight):
    """The ranking of hiveblas, pairs of vertex and score, and its seconds."""
    name = t.out + ".content.txt"
    with open(name, "w") as f:
        f.writelines("%.17g\n" % x for x in content)
    _, lines, took = t.run("nominate", path, "--seeds", ",".join(map(str, seeds)), "--context", context,
                           "--content", name, "--weight", str(weight))
    return [(int(v), float(x)) for v, x in lines], took


def fused(context):
    def compare(t, c, clock):
        seeds = [0, 3, 5]
        content = [float(v * v % 17) for v in range(c.n)]
        out = [set(c.pattern.indices[c.pattern.indptr[v]:c.pattern.indptr[v + 1]].tolist()) for v in range(c.n)]
        worst, seconds = 0.0, 0.0
        for weight in 0.3, 1.0:
            want = clock(lambda: plain_nomination(out, c.n, seeds, context, content, weight))
            ranking, took = nominated(t, c.path, seeds, context, content, weight)
            scores = [x for _, x in ranking]
            if len(ranking) != c.n - len(seeds) or scores != sorted(scores, reverse=True):
                return math.inf, took
            worst = max(worst, max(abs(x - want[v]) for v, x in ranking))
            seconds += took
        return worst, seconds
    return compare


def kidney_egg(t, c, clock):
    """Random graphs as in the paper: the vertices of a group, the egg, have more edges among each other
    and more content. Some of the egg are seeds; the others should be nominated first. The difference is
    to the plain form, and infinite if the fusion does not place them higher than either score alone."""
    n, egg, known = 184, 16, 8
    worst, seconds, place = 0.0, 0.0, {0.0: 0.0, 0.5: 0.0, 1.0: 0.0}
    path = t.out + ".kidney.tsv"
    for seed in range(12):
        rng = np.random.default_rng(seed)
        chance = np.full((n, n), 0.1)
        chance[:egg, :egg] = 0.3
        upper = np.triu(rng.random((n, n)) < chance, 1)
        graph = upper | upper.T
        content = (rng.random(n) + 0.45 * (np.arange(n) < egg)).tolist()
        rows, cols = np.nonzero(graph)
        with open(path, "w") as f:
            f.writelines("%d\t%d\n" % edge for edge in zip(rows.tolist() + [n - 1], cols.tolist() + [n - 1]))
        graph[n - 1, n - 1] = True  # the file has all vertices
        out = [set(np.nonzero(graph[v])[0].tolist()) for v in range(n)]
        seeds = list(range(known))
        for weight in place:
            want = clock(lambda: plain_nomination(out, n, seeds, "seeds", content, weight))
            ranking, took = nominated(t, path, seeds, "seeds", content, weight)
            seconds += took
            worst = max(worst, max(abs(x - want[v]) for v, x in ranking))
            place[weight] += sum(k for k, (v, _) in enumerate(ranking) if v < egg)
    if place[0.5] >= min(place[0.0], place[1.0]):
        return math.inf, seconds
    return worst, seconds


def distances(lines, n):
    d = np.full(n, np.inf)
    for x in lines:
        d[int(x[0])] = float(x[1])
    return d


def same_distances(x, y):
    return relative(np.where(np.isinf(x), -1, x), np.where(np.isinf(y), -1, y))


def bfs(t, c, clock):
    _, lines, took = t.run("bfs", c.path, "--source", "0")
    d = clock(lambda: csgraph.shortest_path(c.pattern, unweighted=True, indices=0))
    return same_distances(distances(lines, c.n), d), took


def sssp(t, c, clock):
    _, lines, took = t.run("sssp", c.path, "--source", "0")
    d = clock(lambda: csgraph.dijkstra(c.a, indices=0))
    return same_distances(distances(lines, c.n), d), took


def vn(t, c, clock):
    _, lines, took = t.run("vn", c.path, "--seeds", "0,3,5")
    d = clock(lambda: csgraph.dijkstra(c.a, indices=[0, 3, 5], min_only=True))
    return same_distances(distances(lines, c.n), d), took


def cc(t, c, clock):
    _, v, took = t.vector(c, "cc")
    return relative(v[:, 0], partition_labels(clock(lambda: list(nx.connected_components(c.simple))), c.n)), took


def tc(t, c, clock):
    report, _, took = t.run("tc", c.path, output=False)
    return abs(report["triangles"] - sum(clock(lambda: nx.triangles(c.simple)).values()) / 3), took


def ktruss(t, c, clock):
    _, lines, took = t.run("ktruss", c.path, "-k", "4")
    want = {frozenset(e) for e in clock(lambda: nx.k_truss(c.simple, 4)).edges}
    return float(len(want ^ {frozenset((int(x[0]), int(x[1]))) for x in lines})), took


def scan(t, c, clock):
    _, v, took = t.vector(c, "scan")
    triangles = clock(lambda: nx.triangles(c.simple))
    return relative(v[:, 0], np.array([c.simple.degree[x] + triangles[x] for x in range(c.n)], dtype=float)), took


def pagerank(t, c, clock):
    _, v, took = t.vector(c, "pagerank", "--tolerance", "1e-12")
    d = clock(lambda: nx.pagerank(nx.DiGraph(c.directed), tol=1e-14, max_iter=1000))
    return relative(v[:, 0], listed(d, c.n)), took


def project(t, c, clock):
    report, lines, took = t.run("project", c.path, "--unweighted")
    p = sp.csr_matrix(clock(lambda: c.pattern.T @ c.pattern))
    p = sp.csr_matrix(p - sp.diags(p.diagonal()))  # which the command leaves out
    p.eliminate_zeros()
    x = np.array([[float(y) for y in line] for line in lines])
    got = sp.csr_matrix((x[:, 2], (x[:, 0].astype(int), x[:, 1].astype(int))), p.shape)
    return float(abs(got - p).max()) + abs(report["nnz"] - p.nnz), took


def maxflow(t, c, clock):
    sink = c.n - 1
    report, _, took = t.run("maxflow", c.path, "--source", "0", "--sink", str(sink))
    coo = c.a.tocoo()
    g = igraph.Graph(n=c.n, edges=np.stack([coo.row, coo.col], axis=1).tolist(), directed=True)
    return abs(report["value"] - clock(lambda: g.maxflow_value(0, sink, capacity=coo.data.tolist()))), took


def lsap(t, c, clock):
    report, _, took = t.run("lsap", c.path, "--maximize", "--default", "0")
    dense = c.a.toarray()
    rows, columns = clock(lambda: scipy.optimize.linear_sum_assignment(dense, maximize=True))
    return abs(report["value"] - dense[rows, columns].sum()), took


def louvain(t, c, clock):
    """The modularity that is reported is that of the communities, and not below igraph's by more than 0.02."""
    report, v, took = t.vector(c, "louvain", *([] if c.symmetric else ["--undirected"]))
    g = c.igraph
    if (c.a.data != 1).any() or c.pattern.diagonal().any():  # igraph's graph is simple
        return None
    peer = clock(lambda: g.community_multilevel()).modularity
    own = g.modularity(np.unique(v[:, 0], return_inverse=True)[1].tolist())
    return abs(own - report["modularity"]) + (1.0 if own < peer - 0.02 else 0.0), took


def lgc(t, c, clock):
    """The minimiser of the ℓ1-regularised PageRank, by proximal gradient steps over a dense matrix."""
    alpha, rho, seeds = 0.15, 1e-4, [v for v in range(c.n) if c.simple.degree[v] > 0][:2]
    _, v, took = t.vector(c, "lgc", "--undirected", "--seeds", "%d,%d" % tuple(seeds), "--alpha", str(alpha), "--rho", str(rho), "--epsilon", "1e-7")
    a = nx.to_numpy_array(c.simple)
    d = a.sum(1)
    root = np.sqrt(np.maximum(d, 1))
    q = (1 + alpha) / 2 * np.eye(c.n) - (1 - alpha) / 2 * a / np.outer(root, root)
    s = np.zeros(c.n)
    s[seeds] = 1 / len(seeds) / root[seeds]

    def minimise():
        x = np.zeros(c.n)
        for _ in range(500):  # the condition is below 7
            y = x - (q @ x - alpha * s)
            x = np.sign(y) * np.maximum(np.abs(y) - rho * alpha * root, 0)
        return x

    return relative(v[:, 0], root * clock(minimise)), took


def chord(lat, lon):
    lat, lon = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def geo(t, c, clock):
    """One pass: no minimum that SciPy finds from the mean of the places has a smaller sum of distances."""
    rng = np.random.default_rng(1)
    known = np.nonzero(rng.random(c.n) < 0.4)[0]
    places = np.stack([rng.uniform(-60, 60, len(known)), rng.uniform(-170, 170, len(known))], axis=1)
    path = t.out + ".places.tsv"
    with open(path, "w") as f:
        f.writelines("%d\t%r\t%r\n" % (v, x, y) for v, (x, y) in zip(known.tolist(), places.tolist()))
    _, lines, took = t.run("geo", c.path, "--undirected", "--locations", path, "--passes", "1", "--tolerance", "1e-3")
    place = dict(zip(known.tolist(), places))
    found = {int(x[0]): (float(x[1]), float(x[2])) for x in lines if x[3] == "1"}
    want = {v for v in range(c.n) if v not in place and any(u in place for u in c.simple[v])}
    if set(found) != want:
        return math.inf, took
    worst = 0.0
    for v in sorted(want)[:40]:
        near = np.array([place[u] for u in c.simple[v] if u in place])
        points = chord(near[:, 0], near[:, 1])

        def cost(x):
            return np.arccos(np.clip(points @ (x / np.linalg.norm(x)), -1, 1)).sum()

        best = clock(lambda: scipy.optimize.minimize(cost, points.mean(0) + 1e-9, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000})).fun
        worst = max(worst, cost(chord(*found[v])) - best)
    return worst, took


def search(t, c, clock):
    """Greedy walks, by a plain loop."""
    scores = np.random.default_rng(2).integers(0, 50, c.n)
    path = t.out + ".scores.txt"
    np.savetxt(path, scores, "%d")
    _, lines, took = t.run("search", c.path, "--undirected", "--scores", path, "--method", "greedy", "--length", "12")

    def walks():
        step = {v: min(c.own_neighbours(v), key=lambda u: (-scores[u], u), default=None) for v in range(c.n)}
        for v in range(c.n):
            walk = [v]
            while len(walk) < 12 and step[walk[-1]] is not None:
                walk.append(step[walk[-1]])
            yield walk

    return float(sum(x != [str(y) for y in w] for x, w in zip(lines, clock(lambda: list(walks()))))) + abs(len(lines) - c.n), took


def sage(t, c, clock):
    """Embeddings over all neighbours, by NumPy in float64."""
    rng = np.random.default_rng(3)
    features, hidden, out = 12, 8, 6
    x = rng.standard_normal((c.n, features)).astype(np.float32)
    w = {"wf1": (features, hidden), "wa1": (features, hidden), "wf2": (2 * hidden, out), "wa2": (2 * hidden, out)}
    w = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in w.items()}
    np.save(t.out + ".npy", x)
    np.savez(t.out + ".npz", **w)
    flags = ["--undirected", "--features", t.out + ".npy", "--weights", t.out + ".npz", "--all", "--output-format", "csv"]
    _, lines, took = t.run("sage", c.path, *flags)
    got = np.array([[float(y) for y in line[0].split(",")[1:]] for line in lines[1:]])

    def embed():
        h = x.astype(np.float64)
        near = [list(c.own_neighbours(v)) or [v] for v in range(c.n)]
        for f, a in (("wf1", "wa1"), ("wf2", "wa2")):
            mean = np.array([h[u].mean(0) for u in near])
            h = np.maximum(np.hstack([h @ w[f], mean @ w[a]]), 0)
            length = np.linalg.norm(h, axis=1, keepdims=True)
            h = h / np.where(length > 0, length, 1)
        return h

    return float(np.abs(got - clock(embed)).max()), took


def sgm(t, c, clock):
    """A graph against its permutation: not more disagreements than SciPy's FAQ with the same seeds."""
    a = nx.to_numpy_array(c.simple)
    rng = np.random.default_rng(4)
    seeds = c.n // 8 + 2
    p = np.concatenate([np.arange(seeds), seeds + rng.permutation(c.n - seeds)])  # vertex i of A is p[i] of B
    b = np.zeros_like(a)
    b[np.ix_(p, p)] = a
    left, right = t.out + ".a.mtx", t.out + ".b.mtx"
    for path, x in ((left, a), (right, b)):
        scipy.io.mmwrite(path, sp.coo_matrix(x))
    _, lines, took = t.run("sgm", left, right, "--seeds", str(seeds))
    pairs = np.stack([np.arange(seeds)] * 2, axis=1)
    peer = clock(lambda: scipy.optimize.quadratic_assignment(a, b, options={"maximize": True, "partial_match": pairs})).col_ind
    own = np.array([int(x[1]) for x in sorted(lines, key=lambda x: int(x[0]))])

    def disagreements(m):
        return np.abs(a - b[np.ix_(m, m)]).sum() / 2

    return float(max(0.0, disagreements(own) - disagreements(peer))), took


def lasso(t, c, clock):
    """The objective, between the primal and the dual value of SciPy's solution of the dual problem."""
    rng = np.random.default_rng(5)
    y = rng.standard_normal(c.n) + 2 * (np.arange(c.n) < c.n // 2)
    path = t.out + ".y.txt"
    np.savetxt(path, y, "%.17g")
    edges = t.out + ".edges.tsv"
    pairs = np.array(sorted(tuple(sorted(e)) for e in c.simple.edges))
    np.savetxt(edges, pairs, "%d", delimiter="\t")
    report, _, took = t.run("lasso", edges, "--values", path, "--lambda1", "0.3", "--exact", output=False)
    m = len(pairs)
    d = sp.csr_matrix((np.repeat([1.0, -1.0], m), (np.tile(np.arange(m), 2), pairs.T.ravel())), (m, c.n))

    def dual(u):
        b = y - d.T @ u
        return b @ b / 2, -(d @ b)

    u = clock(lambda: scipy.optimize.minimize(dual, np.zeros(m), jac=True, method="L-BFGS-B", bounds=[(-0.3, 0.3)] * m,
                                              options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-9})).x
    b = y - d.T @ u
    upper = ((y - b) ** 2).sum() / 2 + 0.3 * np.abs(d @ b).sum()
    lower = y @ y / 2 - b @ b / 2
    return max(report["objective"] - upper, lower - report["objective"], 0.0) / upper + (upper - lower) / upper, took


# name, comparison, tolerance, most vertices for NetworkX's sake
COMPARISONS = [
    ("bfs", bfs, 0, 1e9), ("sssp", sssp, 1e-12, 1e9), ("vn", vn, 1e-12, 1e9), ("cc", cc, 0, 1e9), ("tc", tc, 0, 1e9), ("ktruss", ktruss, 0, 1e9),
    ("scan", scan, 0, 1e9), ("pagerank", pagerank, 1e-9, 1e9), ("project", project, 0, 1e9), ("maxflow", maxflow, 1e-9, 1e9),
    ("lsap", lsap, 1e-9, 2000), ("louvain", louvain, 1e-9, 1e9), ("lgc", lgc, 1e-5, 2000), ("geo", geo, 1e-7, 1e9), ("search", search, 0, 1e9),
    ("sage", sage, 1e-5, 1e9), ("sgm", sgm, 0, 500), ("lasso", lasso, 1e-5, 600),
    ("scc", scc, 0, 1e9), ("kcore", kcore, 0, 1e9), ("betweenness", betweenness, 1e-9, 1e4), ("closeness", closeness, 1e-12, 2000),
    ("harmonic", harmonic, 1e-12, 1000), ("clustering", clustering, 1e-12, 1e9), ("cdlp", cdlp, 0, 1e9), ("mis", mis, 0, 1e9),
    ("colour", colour, 0, 1e9), ("pagerank --seeds", pagerank_personal, 1e-9, 1e9), ("pagerank --weighted", pagerank_weighted, 1e-9, 1e9),
    ("hits", hits, 1e-6, 1e9), ("eigenvector", eigenvector, 1e-6, 1e9), ("katz", katz, 1e-9, 1e9), ("similar", similar, 1e-12, 1e9),
    ("msf", msf, 1e-9, 1e9), ("matching", matching, 0, 1e9), ("diameter", diameter, 0, 1e9), ("toposort", toposort, 0, 1e9),
    ("nominate", nominate, 1e-12, 1e9), ("nominate distance", fused("distance"), 1e-12, 1e9), ("nominate seeds", fused("seeds"), 1e-12, 1e9),
    ("nominate common", fused("common"), 1e-12, 1e9), ("nominate pagerank", fused("pagerank"), 1e-6, 2000), ("nominate egg", kidney_egg, 1e-12, 40),
]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--hiveblas")
    p.add_argument("--data", default=os.path.join(HERE, "..", "shared", "data"))
    p.add_argument("--only", default="")
    p.add_argument("--quick", action="store_true")
    o = p.parse_args()
    only = [x for x in o.only.split(",") if x]
    if not os.path.isdir(o.data):
        print("skipped: no folder %s with graphs" % o.data)
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = o.hiveblas
        if not program:
            program = os.path.join(folder, "hiveblas")
            subprocess.run(["go", "build", "-o", program, "./cmd/hiveblas"], cwd=HERE, check=True)
        tool = Tool(program, folder)
        print("%-20s %-18s %10s %9s %9s" % ("command", "graph", "difference", "hiveblas", "peer"))
        for name in GRAPHS[:8] if o.quick else GRAPHS:
            path = os.path.join(o.data, name)
            if not os.path.exists(path):
                print("skipped: no " + path)
                continue
            case = Case(path)
            for command, compare, tolerance, most in COMPARISONS:
                if case.n > most or only and command not in only:
                    continue
                clock = Clock()
                try:
                    compared = compare(tool, case, clock)
                    if compared is None:  # the reference has no such graph
                        continue
                    difference, took = compared
                except Exception as e:
                    print("%-20s %-18s FAILED %s: %s" % (command, case.name, type(e).__name__, e))
                    failed += 1
                    continue
                ok = difference <= tolerance
                failed += not ok
                print("%-20s %-18s %10.2g %8.3fs %8.3fs%s" % (command, case.name, difference, took, clock.took, "" if ok else "  DIFFERS"), flush=True)
    print("%d comparisons differ" % failed if failed else "all agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
