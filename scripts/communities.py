#!/usr/bin/env python3
"""Compares the communities of hiveblas louvain with those of igraph, leidenalg and NetworkX.

    scripts/communities.py [--hiveblas PATH] [--data FOLDER] [--only NAME,NAME] [--seeds N] [--networkx-seeds N] [--vertices N]

builds the command line if no --hiveblas is given. On graphs of FOLDER (default: ../shared/data beside the checkout), made
simple and undirected, it prints the mean modularity over seeds of

    Louvain  ours (one pass), igraph's multilevel, NetworkX's louvain_communities
    Leiden   ours (two passes), leidenalg

and, on a graph with planted communities (mean degree 17.6, mixing .3), modularity and the normalised mutual information
with the truth, ours and igraph's. A line says the difference to the peer and the least one that is wanted:

    Louvain − NetworkX ≥ −.005, Leiden − leidenalg ≥ −.003, Leiden − NetworkX ≥ −.001
    planted: modularity − igraph's ≥ −.0005, mutual information − igraph's ≥ −.005

NetworkX takes minutes a seed on larger graphs: --networkx-seeds bounds its seeds (100), and it is left out above a million
edges. It exits with 1 if a difference is too low, and with 0 and a reason if the packages or the graphs are missing.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

try:
    import igraph
    import leidenalg
    import networkx as nx
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
except ImportError as e:
    print("skipped: %s; install Debian's python3-networkx, python3-igraph, python3-leidenalg and python3-scipy" % e)
    sys.exit(0)

GRAPHS = ["lagraph/karate.mtx", "graphs/dolphins.mtx.gz", "graphs/polblogs.mtx.gz", "graphs/netscience.mtx.gz", "graphs/ca-GrQc.mtx.gz",
          "graphs/ca-HepTh.mtx.gz", "graphs/ca-AstroPh.mtx.gz", "graphs/as-22july06.mtx.gz", "graphs/email-Enron.mtx.gz",
          "graphs/soc-Slashdot0902.mtx.gz"]


class Checks:
    failed = 0

    def difference(self, graph, ours, peer, got, want, least):
        ok = got - want >= least
        self.failed += not ok
        print("%-18s %-16s %.5f   %-18s %.5f   difference %+.5f, wanted %+.4f%s" %
              (graph, ours, got, peer, want, got - want, least, "" if ok else "   TOO LOW"), flush=True)


def simple(path):
    a = sp.csr_matrix(scipy.io.mmread(path), dtype=np.float64)
    a = sp.coo_matrix(a + a.T)
    keep = a.row != a.col
    a = sp.csr_matrix((np.ones(keep.sum()), (a.row[keep], a.col[keep])), a.shape)
    return a


def igraph_of(a):
    half = sp.triu(a, 1, format="coo")
    return igraph.Graph(n=a.shape[0], edges=np.stack([half.row, half.col], axis=1).tolist())


def louvain(command, path, seed, leiden=False, output=None):
    args = [command, "louvain", path, "--json", "--random-seed", str(seed)]
    if leiden:
        args.append("--leiden")
    if output:
        args += ["-o", output]
    return json.loads(subprocess.run(args, check=True, capture_output=True, text=True).stdout)["modularity"]


def multilevel(g, seed):
    random.seed(seed)
    return g.community_multilevel()


def mutual(x, y):
    """Normalised mutual information, by the mean of the entropies."""
    return igraph.compare_communities(x, y, method="nmi")


def real(command, folder, name, seeds, networkx_seeds, checks, work):
    a = simple(os.path.join(folder, name))
    short = os.path.basename(name).split(".")[0]
    path = os.path.join(work, short + ".mtx")
    scipy.io.mmwrite(path, sp.tril(a), field="pattern", symmetry="symmetric")
    g = igraph_of(a)
    mean = lambda f, n: statistics.fmean(f(s) for s in range(n))
    ours = mean(lambda s: louvain(command, path, s), seeds)
    refined = mean(lambda s: louvain(command, path, s, leiden=True), seeds)
    leiden = mean(lambda s: leidenalg.find_partition(g, leidenalg.ModularityVertexPartition, seed=s).modularity, max(1, min(seeds, 10)))
    print("%-18s %-16s %.5f   %-18s %.5f" % (short, "Louvain", ours, "igraph multilevel", mean(lambda s: multilevel(g, s).modularity, max(1, min(seeds, 10)))))
    checks.difference(short, "Leiden", "leidenalg", refined, leiden, -.003)
    if g.ecount() > 1_000_000 or networkx_seeds < 1:
        return
    h = nx.from_scipy_sparse_array(a)

    def one(seed):
        return nx.community.modularity(h, nx.community.louvain_communities(h, seed=seed))
    # As many seeds as fit: large graphs take NetworkX half a minute.
    n = networkx_seeds if g.ecount() < 30_000 else max(1, networkx_seeds // 20)
    found = mean(one, n)
    checks.difference(short, "Louvain", "NetworkX, %d" % n, ours, found, -.005)
    checks.difference(short, "Leiden", "NetworkX, %d" % n, refined, found, -.001)


def planted(command, vertices, seeds, checks, work):
    for seed in range(1, seeds + 1):
        path, truth, out = (os.path.join(work, x) for x in ("planted.mtx", "truth.tsv", "found.tsv"))
        subprocess.run([command, "generate", "planted", "--vertices", str(vertices), "--edges", str(int(8.8 * vertices)), "--communities",
                        str(max(vertices // 100, 1)), "--mixing", "0.3", "--seed", str(seed), "--simple", "--undirected", "--truth", truth, "-o", path],
                       check=True, capture_output=True)
        q = louvain(command, path, seed, output=out)
        column = lambda f: np.loadtxt(f, dtype=np.int64)[:, 1]
        found = multilevel(igraph_of(simple(path)), seed)
        name = "planted %d" % vertices
        checks.difference(name, "Louvain", "igraph multilevel", q, found.modularity, -.0005)
        want = column(truth).tolist()
        checks.difference(name, "NMI", "igraph multilevel", mutual(column(out).tolist(), want), mutual(found.membership, want), -.005)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--hiveblas")
    p.add_argument("--data", default=os.path.join(HERE, "..", "shared", "data"))
    p.add_argument("--only", default="", help="names of graphs, or planted")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--networkx-seeds", type=int, default=100)
    p.add_argument("--vertices", type=int, default=200_000, help="of the planted graph")
    o = p.parse_args()
    only = [x for x in o.only.split(",") if x]
    wanted = lambda name: not only or any(x in name for x in only)
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        command = o.hiveblas or os.path.join(work, "hiveblas")
        if not o.hiveblas:
            subprocess.run(["go", "build", "-o", command, "./cmd/hiveblas"], cwd=HERE, check=True)
        if not os.path.isdir(o.data):
            print("without real graphs: there is no folder %s" % o.data)
        for name in GRAPHS:
            if wanted(name) and os.path.exists(os.path.join(o.data, name)):
                real(command, o.data, name, o.seeds, o.networkx_seeds, checks, work)
        if wanted("planted"):
            planted(command, o.vertices, 2, checks, work)
    print("%d differences are too low" % checks.failed)
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
