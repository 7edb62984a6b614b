#!/usr/bin/env python3
"""The SciPy peer: the protocol of the SuiteSparse harness, over scipy.sparse; with the argument networkx, that of NetworkX, with igraph that of igraph and leidenalg.

One command a line on stdin, one answer a line on stdout:

    load NAME PATH           ok NAME            read a raw graph or raw tuples file
    free NAME                ok NAME
    threads N                ok 1               SciPy's sparse kernels have one thread
    cases                    ok CASE CASE ...
    version                  ok TEXT
    run CASE NAME [ARG ...]  ms F check F [KEY F ...]
    quit

"run mmread - PATH" reads a Matrix Market file into CSR; "run mmwrite NAME PATH" writes one. Whatever goes wrong is
answered by "err REASON". Shared inputs, check figures and file formats are defined in shared.go and raw.go.
"""

import sys
import time

import numpy as np
import scipy
import scipy.io
import scipy.optimize
import scipy.sparse as sp
import scipy.sparse.csgraph

SEED_DENSE, SEED_PERMUTATION = 4, 5


def mix(z):
    """The finaliser of splitmix64, on arrays of uint64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def hash64(x, seed):
    golden = np.uint64(0x9E3779B97F4A7C15)
    return mix(mix(np.array([seed], np.uint64)) + (x + np.uint64(1)) * golden)


def dense_vector(n):
    h = hash64(np.arange(n, dtype=np.uint64), SEED_DENSE)
    return 1 + (h % np.uint64(16)).astype(np.float64) / 16


def permutation(n):
    p = np.arange(n)
    i = np.arange(n, dtype=np.uint64)
    swaps = (hash64(i, SEED_PERMUTATION) % (i + np.uint64(1))).tolist()
    for k in range(n - 1, 0, -1):
        p[k], p[swaps[k]] = p[swaps[k]], p[k]
    return p


class Graph:
    """A loaded file, with the converted forms that cases asked for."""

    def __init__(self, path):
        with open(path, "rb") as f:
            magic = f.read(8)
            if magic == b"HBCSR01\n":
                self.read_csr(f)
            elif magic == b"HBTUP01\n":
                self.read_tuples(f)
            else:
                raise ValueError("the file is neither a raw graph nor raw tuples")
        self.kept = {}

    def read_csr(self, f):
        nrows, ncols, nvals, kind = (int(v) for v in take(f, "<i8", 4))
        ptr, idx = take(f, "<i8", nrows + 1), take(f, "<i4", nvals)
        values = take(f, "<f8", nvals) if kind == 1 else np.ones(nvals)
        if nvals < 2**31:
            ptr = ptr.astype(np.int32)  # the index type SciPy itself would choose
        self.csr = sp.csr_matrix((values, idx, ptr), shape=(nrows, ncols))
        self.csr.has_sorted_indices = True
        self.csr.has_canonical_format = True

    def read_tuples(self, f):
        nrows, ncols, count = (int(v) for v in take(f, "<i8", 3))
        self.shape = (nrows, ncols)
        self.rows, self.cols = take(f, "<i4", count), take(f, "<i4", count)
        self.values = take(f, "<f8", count)

    def keep(self, key, make):
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]


def take(f, dtype, count):
    a = np.fromfile(f, dtype, count)
    if len(a) != count:
        raise ValueError("the file is cut short")
    return a


graphs = {}


def timed(work):
    """Runs work and returns its result and its milliseconds."""
    start = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - start) * 1e3


def check(result):
    """The weighted sum by which results are compared, and their number of entries."""
    if sp.issparse(result):
        right = 1 + np.arange(result.shape[1]) % 5
        left = 1 + np.arange(result.shape[0]) % 7
        return float(left @ (result.astype(np.float64) @ right)), result.nnz
    result = np.asarray(result, dtype=np.float64).ravel()
    return float(result @ (1 + np.arange(len(result)) % 7)), len(result)


def sorted_csr(m):
    m.sort_indices()
    return m


def spmv(g, dtype):
    a = g.keep(("matrix", dtype), lambda: g.csr.astype(dtype))
    x = g.keep(("dense", dtype), lambda: dense_vector(g.csr.shape[1]).astype(dtype))
    return timed(lambda: a @ x)


def ata(g, kind="i64"):
    ones = g.keep(("ones", kind), lambda: sp.csr_matrix(
        (np.ones(g.csr.nnz, {"i64": np.int64, "f64": np.float64}[kind]), g.csr.indices, g.csr.indptr), g.csr.shape))
    return timed(lambda: sorted_csr((ones.T.tocsr() @ ones).tocsr()))


def extract_pp(g):
    p = g.keep("permutation", lambda: permutation(g.csr.shape[0]))
    return timed(lambda: sorted_csr(g.csr[p][:, p]))


def build(g):
    def work():
        m = sp.coo_matrix((g.values, (g.rows, g.cols)), shape=g.shape).tocsr()
        m.sum_duplicates()
        return m
    return timed(work)


def select_value(g, least="0.5"):
    def work():
        m, keep = g.csr, g.csr.data > float(least)
        ptr = np.concatenate(([0], np.cumsum(keep)))[m.indptr]
        return sp.csr_matrix((m.data[keep], m.indices[keep], ptr), m.shape)
    return timed(work)


def assignment(g):
    costs = g.keep("dense costs", lambda: g.csr.toarray())

    def work():
        rows, cols = scipy.optimize.linear_sum_assignment(costs)
        return costs[rows, cols].sum()
    return timed(work)


def features(n, reals, counts, seed):
    """gen.Features, a row for each of n things."""
    word = hash64(np.arange(n * (reals + counts), dtype=np.uint64), seed)
    x = (1 + (((word >> np.uint64(32)) * np.uint64(70)) >> np.uint64(32))).astype(np.float32)
    x[:n * reals] = (word[:n * reals] >> np.uint64(40)).astype(np.float32) * np.float32(10 / 2**24)
    return x.reshape(reals + counts, n).T.astype(np.float64)


def ac_edges(n, m, seed):
    """gen.Edges."""
    ends = hash64(np.arange(2 * m, dtype=np.uint64), seed)
    ends = ((ends >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64)
    return ends[0::2], ends[1::2]


def normprob(x):
    x = x - x.max(axis=0)
    return x - np.log(np.exp(x).sum(axis=0))


def distances(x, y):
    return np.sqrt(np.stack([((x - row) ** 2).sum(axis=1) for row in y], axis=1))


class Segments:
    """Maxima over the rows that go to each of n places: sorted once, then reduceat."""

    def __init__(self, to, n):
        self.order = np.argsort(to, kind="stable")
        self.at, self.first = np.unique(to[self.order], return_index=True)
        self.n = n

    def max(self, x, null):
        out = np.repeat(null[None, :], self.n, axis=0)
        best = np.maximum.reduceat(x[self.order], self.first, axis=0)
        out[self.at] = np.maximum(out[self.at], best)
        return out


def classify(g):
    n = g.shape[0]
    data = [features(n, 10, 3, 1), features(len(g.rows), 10, 7, 2)]
    pattern = [features(10, 10, 3, 6), features(20, 10, 7, 7)]
    psrc, pdst = ac_edges(10, 20, 5)

    def work():
        into, out = Segments(g.cols, n), Segments(g.rows, n)
        cv, ce = distances(data[0], pattern[0]), distances(data[1], pattern[1])
        mu, xe = normprob(-cv), normprob(-ce)
        cv, ce = normprob(cv), normprob(ce)
        fmax, rmax = into.max(xe, mu[:, psrc].max(axis=0)), out.max(xe, mu[:, pdst].max(axis=0))
        for _ in range(10):
            vf, vr = mu[:, pdst] - fmax, mu[:, psrc] - rmax
            fe, re = normprob(vr[g.rows] - ce), normprob(vf[g.rows] - ce)
            rmax, fmax = out.max(re, vf.max(axis=0)), into.max(fe, vr.max(axis=0))
            mu = -cv
            for p, (s, d) in enumerate(zip(psrc, pdst)):
                mu[:, d] += fmax[:, p]
                mu[:, s] += rmax[:, p]
            mu = normprob(mu)
        return mu

    mu, ms = timed(work)
    return sp.csr_matrix(mu), ms


def nominate(g, *seeds):
    """The distance of every vertex to the nearest seed; 0 where there is none."""
    def work():
        return scipy.sparse.csgraph.dijkstra(g.csr, indices=[int(s) for s in seeds], min_only=True)
    d, ms = timed(work)
    return np.where(np.isinf(d), 0, d), ms


def match(g, b, seeds):
    """Seeded graph matching on dense arrays; the figure is the number of disagreements."""
    x, y = g.csr.toarray(), graphs[b].csr.toarray()
    pairs = np.repeat(np.arange(int(seeds))[:, None], 2, axis=1)

    def work():
        return scipy.optimize.quadratic_assignment(x, y, options={"maximize": True, "partial_match": pairs}).col_ind
    p, ms = timed(work)
    return np.abs(x - y[np.ix_(p, p)]).sum(), ms


def geolocate(g, tolerance="1e-3", most="100"):
    """The passes of apps.Geolocate with medians in degrees, on arrays; the figure sums the coordinates."""
    n, tol, limit = g.csr.shape[0], float(tolerance), int(most)
    source = g.keep("sources", lambda: np.repeat(np.arange(n), np.diff(g.csr.indptr)))
    v = np.arange(n, dtype=np.uint64)
    share = [(hash64(v, s) >> np.uint64(11)).astype(np.float64) / 2**53 for s in (22, 23)]
    known = hash64(v, 21) % np.uint64(10) == 0
    start = [120 * share[0] - 60, 360 * share[1] - 180]

    def work():
        located, lat, lon = known.copy(), np.where(known, start[0], 0), np.where(known, start[1], 0)
        while True:
            keep = ~located[source] & located[g.csr.indices]
            s, d = source[keep], g.csr.indices[keep]
            if len(s) == 0:
                return np.where(located, lat + 90 + lon + 180, 0)
            first = np.flatnonzero(np.concatenate(([True], s[1:] != s[:-1])))
            at, count = s[first], np.diff(np.append(first, len(s)))
            x, y = centres(lat[d], lon[d], first, count, tol, limit)
            lat[at], lon[at] = x, y
            located[at] = True
    return timed(work)


def centres(lat, lon, first, count, tol, limit):
    """The centre of each segment of places: itself, the midpoint of two, the median of more."""
    x, y = np.add.reduceat(lat, first) / count, np.add.reduceat(lon, first) / count
    one, two = first[count == 1], first[count == 2]
    x[count == 1], y[count == 1] = lat[one], lon[one]
    p, q, w = np.radians(lat[two]), np.radians(lat[two + 1]), np.radians(lon[two + 1] - lon[two])
    bx, by = np.cos(q) * np.cos(w), np.cos(q) * np.sin(w)
    x[count == 2] = np.degrees(np.arctan2(np.sin(p) + np.sin(q), np.hypot(np.cos(p) + bx, by)))
    mid = lon[two] + np.degrees(np.arctan2(by, np.cos(p) + bx))
    y[count == 2] = (mid + 180) % 360 - 180
    todo = np.flatnonzero(count > 2)
    if len(todo) == 0:
        return x, y

    def select(todo):
        keep = np.zeros(len(count), bool)
        keep[todo] = True
        keep = np.repeat(keep, count)
        sizes = count[todo]
        return lat[keep], lon[keep], np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes
    a, b, f, sizes = select(todo)
    cosa, half = np.cos(np.radians(a)), np.pi / 360
    u, v = x[todo], y[todo]
    for _ in range(limit):
        h = np.sin((a - np.repeat(u, sizes)) * half) ** 2
        h += cosa * np.repeat(np.cos(np.radians(u)), sizes) * np.sin((b - np.repeat(v, sizes)) * half) ** 2
        h = 2 * 6371 * np.arcsin(np.sqrt(np.minimum(h, 1)))
        zero = h == 0
        w = 1 / np.where(zero, np.inf, h)
        total, zeros = np.add.reduceat(w, f), np.add.reduceat(zero.astype(np.int64), f)
        safe = np.where(total == 0, 1, total)
        tu, tv = np.add.reduceat(w * a, f) / safe, np.add.reduceat(w * b, f) / safe
        if zeros.any():
            r = np.hypot(tu - u, tv - v) * total
            stay = np.where(zeros == 0, 0, np.minimum(1, zeros / np.where(r == 0, 1e-300, r)))
            tu, tv = (1 - stay) * tu + stay * u, (1 - stay) * tv + stay * v
        done = np.hypot(tu - u, tv - v) < tol
        u, v = tu, tv
        x[todo], y[todo] = u, v
        if done.any():
            todo, u, v = todo[~done], u[~done], v[~done]
            if len(todo) == 0:
                break
            keep = np.repeat(~done, sizes)
            a, b, cosa, sizes = a[keep], b[keep], cosa[keep], sizes[~done]
            f = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return x, y


def mmread(_, path):
    return timed(lambda: sorted_csr(scipy.io.mmread(path).tocsr()))


def mmwrite(g, path):
    _, ms = timed(lambda: scipy.io.mmwrite(path, g.csr))
    return g.csr, ms


def strong(g):
    (count, label), ms = timed(lambda: scipy.sparse.csgraph.connected_components(g.csr, connection="strong"))
    return np.array([count * 1e6 + np.bincount(label).max()]), ms


def spanning(g):
    tree, ms = timed(lambda: scipy.sparse.csgraph.minimum_spanning_tree(g.csr))
    return np.array([tree.sum()]), ms


def matching(g):
    match, ms = timed(lambda: scipy.sparse.csgraph.maximum_bipartite_matching(g.csr, perm_type="column"))
    return np.array([(match >= 0).sum()]), ms


def similar(g, top="10"):
    """The rows that are most similar by Jaccard's measure, by a product of the pattern and a sort of each row."""
    def work():
        a = sp.csr_matrix((np.ones(g.csr.nnz), g.csr.indices, g.csr.indptr), g.csr.shape)
        size = np.diff(a.indptr)
        c = (a @ a.T).tocsr()
        rows = np.repeat(np.arange(c.shape[0]), np.diff(c.indptr))
        score = np.where(rows == c.indices, -1, c.data / (size[rows] + size[c.indices] - c.data))
        best = np.zeros(c.shape[0])
        for v in range(c.shape[0]):
            x = score[c.indptr[v]:c.indptr[v + 1]]
            k = min(int(top), len(x) - 1)
            if k > 0:
                best[v] = np.partition(x, len(x) - k)[len(x) - k:].sum()
        return best
    return timed(work)


CASES = {
    "scc": strong,
    "spanning": spanning,
    "matching": matching,
    "similar": similar,
    "spmv_f64": lambda g: spmv(g, np.float64),
    "spmv_f32": lambda g: spmv(g, np.float32),
    "spgemm_ss_f64": lambda g: timed(lambda: sorted_csr(g.csr @ g.csr)),
    "ata_plus_pair": ata,
    "build": build,
    "transpose": lambda g: timed(lambda: sorted_csr(g.csr.T.tocsr())),
    "extract_pp": extract_pp,
    "ewiseadd": lambda g, b: timed(lambda: sorted_csr(g.csr + graphs[b].csr)),
    "ewisemult": lambda g, b: timed(lambda: sorted_csr(g.csr.multiply(graphs[b].csr).tocsr())),
    "select_tril": lambda g: timed(lambda: sorted_csr(sp.tril(g.csr, -1, format="csr"))),
    "select_value": select_value,
    "apply": lambda g: timed(lambda: -g.csr),
    "apply_bind2": lambda g, s="2.5": timed(lambda: g.csr * float(s)),
    "reduce_rows": lambda g: timed(lambda: g.csr.sum(axis=1)),
    "reduce_cols": lambda g: timed(lambda: g.csr.sum(axis=0)),
    "reduce_scalar": lambda g: timed(lambda: g.csr.sum()),
    "assignment": assignment,
    "classify": classify,
    "nominate": nominate,
    "match": match,
    "geolocate": geolocate,
    "mmread": mmread,
    "mmwrite": mmwrite,
}


def networkx_cases():
    """The cases of NetworkX, which has graphs of its own, made outside the time."""
    import networkx as nx

    def nominate(g, *seeds):
        graph = g.keep("networkx", lambda: nx.from_scipy_sparse_array(g.csr, create_using=nx.DiGraph))
        found, ms = timed(lambda: nx.multi_source_dijkstra_path_length(graph, {int(s) for s in seeds}))
        d = np.zeros(g.csr.shape[0])
        d[list(found)] = list(found.values())
        return d, ms

    def project(g):
        rows, cols = g.csr.shape
        graph = g.keep("networkx", lambda: nx.bipartite.from_biadjacency_matrix(g.csr))
        p, ms = timed(lambda: nx.bipartite.weighted_projected_graph(graph, range(rows, rows + cols)))
        shared = nx.to_scipy_sparse_array(p, nodelist=range(rows, rows + cols), format="csr")
        shared += sp.diags(np.bincount(g.csr.indices, minlength=cols).astype(np.float64))  # which it leaves out
        return sorted_csr(sp.csr_matrix(shared)), ms

    def louvain(g):
        graph = g.keep("undirected", lambda: nx.from_scipy_sparse_array(sp.csr_matrix(
            (np.ones(g.csr.nnz), g.csr.indices, g.csr.indptr), g.csr.shape)))
        parts, ms = timed(lambda: nx.community.louvain_communities(graph, seed=1))
        return nx.community.modularity(graph, parts), ms

    def plain(g):
        """The undirected graph without loops and weights."""
        def make():
            half, h = sp.triu(g.csr, 1, format="coo"), nx.Graph()
            h.add_nodes_from(range(g.csr.shape[0]))
            h.add_edges_from(zip(half.row.tolist(), half.col.tolist()))
            return h
        return g.keep("plain", make)

    def colour(g):
        h = plain(g)
        found, ms = timed(lambda: nx.greedy_color(h, strategy="largest_first"))
        c = np.full(g.csr.shape[0], -1)
        c[list(found)] = list(found.values())
        half = sp.triu(g.csr, 1, format="coo")
        return np.array([(c >= 0).sum() - 1e6 * (c[half.row] == c[half.col]).sum()]), ms

    def independent_set(g):
        h = plain(g)
        found, ms = timed(lambda: nx.maximal_independent_set(h, seed=1))
        c, half = np.zeros(g.csr.shape[0], bool), sp.triu(g.csr, 1, format="coo")
        c[found] = True
        near = c.copy()
        near[half.row[c[half.col]]] = True
        near[half.col[c[half.row]]] = True
        return np.array([near.sum() - 1e6 * (c[half.row] & c[half.col]).sum()]), ms

    return {"nominate": nominate, "ata_plus_pair": project, "louvain": louvain, "colour": colour,
            "independent_set": independent_set}, "NetworkX " + nx.__version__


def igraph_cases():
    """The workflows of igraph, and communities of leidenalg where it is installed, whose figure is the modularity."""
    import random
    import igraph
    try:
        import leidenalg
    except ImportError:
        leidenalg = None

    def graph(g):
        def make():
            half = sp.triu(g.csr, 1, format="coo")
            return igraph.Graph(n=g.csr.shape[0], edges=np.stack([half.row, half.col], axis=1))
        return g.keep("igraph", make)

    def louvain(g):
        h = graph(g)
        random.seed(1)
        parts, ms = timed(h.community_multilevel)
        return parts.modularity, ms

    def leiden(g):
        h = graph(g)
        parts, ms = timed(lambda: leidenalg.find_partition(h, leidenalg.ModularityVertexPartition, seed=1))
        return parts.modularity, ms

    def directed(g):
        def make():
            all = g.csr.tocoo()
            return igraph.Graph(n=g.csr.shape[0], edges=np.stack([all.row, all.col], axis=1), directed=True)
        return g.keep("igraph directed", make)

    def strong(g):
        h = directed(g)
        parts, ms = timed(lambda: h.connected_components(mode="strong"))
        sizes = parts.sizes()
        return np.array([len(sizes) * 1e6 + max(sizes)]), ms

    def cores(g):
        h = graph(g)
        return timed(h.coreness)

    def betweenness(g):
        h = graph(g)
        return timed(h.betweenness)

    def closeness(g, *targets):
        h, t = graph(g), [int(v) for v in targets]
        c, ms = timed(lambda: h.closeness(t, normalized=False))
        return np.array([(1 / np.array(c)).sum()]), ms

    def clustering(g):
        h = graph(g)
        return timed(lambda: h.transitivity_local_undirected(mode="zero"))

    def spanning(g):
        h = graph(g)
        half = g.keep("half", lambda: sp.triu(g.csr, 1, format="coo").data)
        w = g.keep("weights", half.tolist)
        tree, ms = timed(lambda: h.spanning_tree(weights=w, return_tree=False))
        return np.array([half[tree].sum()]), ms

    def restarts(g, *vertices):
        h, at = graph(g), [int(v) for v in vertices]
        return timed(lambda: h.personalized_pagerank(damping=.85, reset_vertices=at))

    def eigenvector(g):
        h = graph(g)
        x, ms = timed(h.eigenvector_centrality)
        return np.array(x) / np.linalg.norm(x), ms

    def hubs(g):
        h = directed(g)
        x, ms = timed(lambda: h.hub_score())
        return np.array(x) / np.sum(x), ms

    def topological(g):
        h = directed(g)
        order, ms = timed(h.topological_sorting)
        return np.array([len(order)]), ms

    def diameter(g):
        h = graph(g)
        d, ms = timed(h.diameter)
        return np.array([d]), ms

    def matching(g):
        rows, columns = g.csr.shape

        def make():
            all = g.csr.tocoo()
            return igraph.Graph(n=rows + columns, edges=np.stack([all.row, all.col + rows], axis=1))
        h, side = g.keep("igraph bipartite", make), [False] * rows + [True] * columns
        found, ms = timed(lambda: h.maximum_bipartite_matching(types=side))
        return np.array([len(found)]), ms

    cases = {"louvain": louvain, "scc": strong, "matching": matching, "cores": cores, "betweenness": betweenness,
            "closeness": closeness, "clustering": clustering, "spanning": spanning, "restarts": restarts,
            "eigenvector": eigenvector, "hubs": hubs, "topological": topological, "diameter": diameter}
    if leidenalg is None:
        return cases, "igraph " + igraph.__version__
    cases["leiden"] = leiden
    return cases, "igraph %s and leidenalg" % igraph.__version__


def run(case, name, *args):
    if case not in CASES:
        raise ValueError("no case is called " + case)
    if case != "mmread" and name not in graphs:
        raise ValueError("no graph is called %s: load it first" % name)
    result, ms = CASES[case](graphs.get(name), *args)
    if case in ("reduce_scalar", "assignment", "match", "louvain", "leiden"):
        return "ms %.6f check %.17g" % (ms, result)
    figure, nvals = check(result)
    return "ms %.6f check %.17g nvals %d" % (ms, figure, nvals)


def answer(line):
    command, _, rest = line.partition(" ")
    if command == "load":
        name, _, path = rest.partition(" ")
        graphs[name] = Graph(path)
        return "ok " + name
    if command == "free":
        del graphs[rest]
        return "ok " + rest
    if command == "threads":
        return "ok 1"
    if command == "cases":
        return "ok " + " ".join(CASES)
    if command == "version":
        return "ok " + TITLE
    if command == "run":
        words = rest.split(" ", 2) if rest.startswith("mm") else rest.split()
        return run(*words)
    raise ValueError('no command is called "%s"' % command)


TITLE = "SciPy %s, NumPy %s" % (scipy.__version__, np.__version__)


def main():
    global CASES, TITLE
    np.seterr(over="ignore")
    if sys.argv[1:] == ["networkx"]:
        CASES, TITLE = networkx_cases()
    if sys.argv[1:] == ["igraph"]:
        CASES, TITLE = igraph_cases()
    for line in sys.stdin:
        line = line.strip("\r\n")
        if line == "quit":
            break
        try:
            reply = answer(line)
        except Exception as e:  # whatever it was, the caller gets a line
            reply = "err %s: %s" % (type(e).__name__, " ".join(str(e).split()))
        print(reply, flush=True)


if __name__ == "__main__":
    main()
