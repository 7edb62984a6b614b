#!/usr/bin/env python3
"""The SciPy peer: the protocol of the SuiteSparse harness, over scipy.sparse.

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


def mmread(_, path):
    return timed(lambda: sorted_csr(scipy.io.mmread(path).tocsr()))


def mmwrite(g, path):
    _, ms = timed(lambda: scipy.io.mmwrite(path, g.csr))
    return g.csr, ms


CASES = {
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
    "mmread": mmread,
    "mmwrite": mmwrite,
}


def run(case, name, *args):
    if case not in CASES:
        raise ValueError("no case is called " + case)
    if case != "mmread" and name not in graphs:
        raise ValueError("no graph is called %s: load it first" % name)
    result, ms = CASES[case](graphs.get(name), *args)
    if case in ("reduce_scalar", "assignment"):
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
        return "ok SciPy %s, NumPy %s" % (scipy.__version__, np.__version__)
    if command == "run":
        words = rest.split(" ", 2) if rest.startswith("mm") else rest.split()
        return run(*words)
    raise ValueError('no command is called "%s"' % command)


def main():
    np.seterr(over="ignore")
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
