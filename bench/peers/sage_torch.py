"""GraphSAGE by PyTorch and PyTorch Geometric, on the shapes of `hiveblas-bench gpu`.

    python3 sage_torch.py [--quick] [--training | --brief]

It prints a line of JSON for each case: the median time in milliseconds of the embedding of all
vertices, or of an epoch of training, by CUDA events. Graphs, features and weights are drawn anew:
times are compared, not results.

eager   gathers the features of the samples of each source, takes means, then multiplies: what a
        user of PyTorch writes, and the HIVE report does. In batches, since samples of all sources do
        not fit.
csr     all neighbours by torch.sparse products with a CSR matrix, products with weights first.
pyg     torch_geometric.nn.SAGEConv, all neighbours, over an EdgeIndex-free edge list, relu and norm.
"""

import argparse
import json
import statistics

import torch
import torch.nn.functional as F


def timed(f, rounds=5):
    f()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        f()
        b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b))
    return statistics.median(times)


def report(case, peer, ms):
    print(json.dumps({"case": case, "peer": peer, "ms": round(ms, 4)}), flush=True)


def graph(n, degree):
    """Edges in the order of their sources: row offsets and targets."""
    count = torch.full((n,), degree, device="cuda")
    ptr = torch.cat([torch.zeros(1, dtype=torch.int64, device="cuda"), count.cumsum(0)])
    return ptr, torch.randint(n, (n * degree,), device="cuda")


def norm(h):
    return F.normalize(F.relu(h), dim=1)


def draw(ptr, idx, v, k):
    begin = ptr[v]
    degree = ptr[v + 1] - begin
    j = (torch.rand(v.shape[0], k, device="cuda") * degree[:, None]).long()
    return idx[begin[:, None] + j]


def eager(ptr, idx, x, weights, samples, batch):
    wf1, wa1, wf2, wa2 = weights
    n, out = ptr.shape[0] - 1, []
    k1, k2 = samples

    def hidden(v):
        near = x[draw(ptr, idx, v, k2).reshape(-1)].view(v.shape[0], k2, -1).mean(1)
        return norm(torch.cat([x[v] @ wf1, near @ wa1], 1))

    for lo in range(0, n, batch):
        v = torch.arange(lo, min(lo + batch, n), device="cuda")
        u = draw(ptr, idx, v, k1).reshape(-1)
        near = hidden(u).view(v.shape[0], k1, -1).mean(1)
        out.append(norm(torch.cat([hidden(v) @ wf2, near @ wa2], 1)))
    return torch.cat(out)


def csr(mean, x, weights):
    wf1, wa1, wf2, wa2 = weights
    h = norm(torch.cat([x @ wf1, mean @ (x @ wa1)], 1))
    return norm(torch.cat([h @ wf2, (mean @ h) @ wa2], 1))


def pyg_net(features, hidden, out):
    from torch_geometric.nn import SAGEConv

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = SAGEConv(features, hidden, normalize=True)
            self.b = SAGEConv(hidden, out, normalize=True)

        def forward(self, x, edges, dropout=0.0):
            x = F.dropout(x, dropout, self.training)
            h = F.relu(self.a(x, edges))
            h = F.dropout(h, dropout, self.training)
            return self.b(h, edges)

    return Net().cuda()


def inference(n, degree, features, hidden, out, quick, brief):
    name = f"{n}x{degree} {features} {hidden} {out}"
    ptr, idx = graph(n, degree)
    x = torch.randn(n, features, device="cuda")
    weights = [torch.randn(*s, device="cuda") for s in
               [(features, hidden)] * 2 + [(2 * hidden, out)] * 2]
    batch = n if quick else 1 << 17
    for samples in [(8, 8)] if brief else [(8, 8), (25, 10)]:
        ms = timed(lambda: eager(ptr, idx, x, weights, samples, batch), 3)
        report(f"{name}, samples {samples[0]}x{samples[1]}", "eager", ms)
    if brief:
        return
    value = torch.full((n * degree,), 1 / degree, device="cuda")
    mean = torch.sparse_csr_tensor(ptr, idx, value, (n, n))
    report(f"{name}, all", "csr", timed(lambda: csr(mean, x, weights)))
    try:
        net = pyg_net(features, 2 * hidden, 2 * out).eval()
        source = torch.repeat_interleave(torch.arange(n, device="cuda"), degree)
        edges = torch.stack([idx, source])
        with torch.no_grad():
            report(f"{name}, all", "pyg", timed(lambda: net(x, edges), 3))
    except Exception as e:  # memory, or no PyTorch Geometric
        print("pyg is left out:", str(e).splitlines()[0], flush=True)


def training(n, degree, features, hidden, classes, dense):
    """An epoch of full batch: forward, backward, Adam, and nothing else."""
    name = f"epoch {n}x{degree} {features} {hidden} {classes}"
    ptr, idx = graph(n, degree)
    source = torch.repeat_interleave(torch.arange(n, device="cuda"), degree)
    edges = torch.stack([idx, source])
    x = torch.rand(n, features, device="cuda")
    if not dense:
        x = x * (torch.rand(n, features, device="cuda") < 0.0127)
    y = torch.randint(classes, (n,), device="cuda")
    net = pyg_net(features, hidden, classes).train()
    adam = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)

    def step():
        adam.zero_grad()
        F.cross_entropy(net(x, edges, 0.5), y).backward()
        adam.step()

    report(name, "pyg", timed(step, 5 if dense else 20))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--quick", action="store_true", help="small graphs")
    p.add_argument("--training", action="store_true", help="training alone")
    p.add_argument("--brief", action="store_true", help="samples 8x8, and training")
    o = p.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    n = 20000 if o.quick else 1632803
    with torch.no_grad():
        if not o.training:
            inference(n, 19, 64, 16, 64, o.quick, o.brief)
    if o.training or o.brief:
        training(2708, 4, 1433, 128, 7, False)
        training(n, 19, 64, 32, 16, True)


if __name__ == "__main__":
    main()
