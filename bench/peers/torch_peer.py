#!/usr/bin/env python3
"""The PyTorch peer: the protocol of the SuiteSparse harness (see scipy_peer.py), GraphSAGE on two threads.

    sage_embed[_sparse] NAME FEATURES HIDDEN OUT SHARE      embeddings of all vertices by two layers
    sage_epoch[_sparse] NAME FEATURES HIDDEN CLASSES SHARE  an epoch of training, all vertices in a step

Features, a share of which is not 0, weights and classes are those of bench/sage.go. Products of features are dense, or
with _sparse of a CSR matrix; those of neighbours are of a CSR matrix of means. The check is that of a matrix, or of an
epoch the number of vertices, since the first weights are drawn otherwise.
"""

import sys
import time

import torch
import torch.nn.functional as F

GOLDEN = 0x9E3779B97F4A7C15


def signed(x):
    x &= (1 << 64) - 1
    return x - (1 << 64) if x >> 63 else x


def right(z, s):
    return (z >> s) & ((1 << (64 - s)) - 1)


def mix(z):
    z = (z ^ right(z, 30)) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ right(z, 27)) * signed(0x94D049BB133111EB)
    return z ^ right(z, 31)


def hash64(count, seed):
    state = mix(torch.tensor([seed], dtype=torch.int64))
    return mix(state + (torch.arange(count, dtype=torch.int64) + 1) * signed(GOLDEN))


def numbers(rows, cols, seed, scale):
    x = (right(hash64(rows * cols, seed), 40) - (1 << 23)).to(torch.float32) / (1 << 23)
    return (x * scale).reshape(rows, cols)


class Sparse(torch.autograd.Function):
    """a·w of a constant CSR matrix, whose transpose is given."""

    @staticmethod
    def forward(ctx, w, a, transposed):
        ctx.transposed = transposed
        return a @ w

    @staticmethod
    def backward(ctx, g):
        return ctx.transposed @ g, None, None


class Graph:
    def __init__(self, path):
        with open(path, "rb") as f:
            if f.read(8) != b"HBCSR01\n":
                raise ValueError("the file is no raw graph")
            raw = f.read()
        take = lambda at, n, kind, size: torch.frombuffer(bytearray(raw[at : at + size * n]), dtype=kind)
        self.n, _, nvals, _ = (int(x) for x in take(0, 4, torch.int64, 8))
        ptr = take(32, self.n + 1, torch.int64, 8)
        idx = take(32 + 8 * (self.n + 1), nvals, torch.int32, 4).to(torch.int64)
        degree = ptr[1:] - ptr[:-1]
        row = torch.repeat_interleave(torch.arange(self.n), degree)
        lone = (degree == 0).nonzero().squeeze(1)
        row, idx = torch.cat([row, lone]), torch.cat([idx, lone])
        share = 1 / degree.clamp(min=1).to(torch.float32)[row]
        csr = lambda i, j: torch.sparse_coo_tensor(torch.stack([i, j]), share, (self.n, self.n)).coalesce().to_sparse_csr()
        self.mean, self.back = csr(row, idx), csr(idx, row)
        self.kept = {}

    def features(self, d, share):
        if (d, share) not in self.kept:
            some = (right(hash64(self.n * d, 36), 40) + 1).to(torch.float64) / (1 << 24) <= share
            x = some.to(torch.float32).reshape(self.n, d)
            self.kept[d, share] = x, x.to_sparse_csr(), x.t().contiguous().to_sparse_csr()
        return self.kept[d, share]


def norm(h):
    return F.normalize(F.relu(h), dim=1)


def layers(g, x, sparse, w):
    full, rows, columns = x
    first = (lambda m: Sparse.apply(m, rows, columns)) if sparse else (lambda m: full @ m)
    near = lambda h: Sparse.apply(h, g.mean, g.back)
    h = norm(torch.cat([first(w[0]), near(first(w[1]))], 1))
    return norm(torch.cat([h @ w[2], near(h @ w[3])], 1))


def embed(g, sparse, d, hidden, out, share):
    w, rows = [], d
    for k, h in enumerate((hidden, out)):
        w += [numbers(rows, h, 40 + 2 * k + j, rows**-0.5) for j in range(2)]
        rows = 2 * h
    x = g.features(d, share)
    with torch.no_grad():
        begin = time.perf_counter()
        z = layers(g, x, sparse, w)
        ms = (time.perf_counter() - begin) * 1e3
    z = z.to(torch.float64)
    z = (z * (1 + torch.arange(z.shape[1]) % 5)).sum(1)
    return ms, float((z * (1 + torch.arange(g.n) % 7)).sum())


def epoch(g, sparse, d, hidden, classes, share):
    x, y = g.features(d, share), hash64(g.n, 37)
    y = ((y >> 1 & ((1 << 63) - 1)) % classes * 2 + (y & 1)) % classes  # of the unsigned number
    shapes = [(d, hidden), (d, hidden), (2 * hidden, hidden), (2 * hidden, hidden), (2 * hidden, classes)]
    w = [torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(*s))) for s in shapes]
    bias = torch.nn.Parameter(torch.zeros(classes))
    adam = torch.optim.Adam(w + [bias], lr=0.01, weight_decay=5e-4)
    few, many = 2, 12
    for k in range(many):
        if k == few:
            begin = time.perf_counter()
        adam.zero_grad()
        F.cross_entropy(layers(g, x, sparse, w) @ w[4] + bias, y).backward()
        adam.step()
    return (time.perf_counter() - begin) * 1e3 / (many - few), float(g.n)


CASES = {name + form: (f, form != "") for name, f in (("sage_embed", embed), ("sage_epoch", epoch)) for form in ("", "_sparse")}
PATHS, GRAPHS = {}, {}


def answer(line):
    command, *args = line.split(" ")
    if command == "load":
        PATHS[args[0]] = args[1]  # read when a case wants it
        GRAPHS.pop(args[0], None)
        return "ok " + args[0]
    if command == "free":
        PATHS.pop(args[0], None)
        GRAPHS.pop(args[0], None)
        return "ok " + args[0]
    if command == "threads":
        torch.set_num_threads(int(args[0]))
        return "ok %d" % torch.get_num_threads()
    if command == "cases":
        return "ok " + " ".join(CASES)
    if command == "version":
        return "ok PyTorch " + torch.__version__
    if command == "run":
        case, sparse = CASES[args[0]]
        if args[1] not in GRAPHS:
            GRAPHS[args[1]] = Graph(PATHS[args[1]])
        d, hidden, out = (int(x) for x in args[2:5])
        return "ms %r check %r" % case(GRAPHS[args[1]], sparse, d, hidden, out, float(args[5]))
    raise ValueError("no such command")


def main():
    torch.set_num_threads(2)
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
