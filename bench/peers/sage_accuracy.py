"""Accuracy of SAGEConv of PyTorch Geometric on citation graphs, on the splits of our tests.

    HIVEBLAS_SAGE_SPLITS=DIR go test ./apps -run SAGESplitFiles      writes the splits
    python3 sage_accuracy.py ../../../shared/data/gnn DIR

Two layers of mean aggregation, features divided by their number in a row, Adam, the epoch of the
best validation accuracy: the settings that tutorials of PyTorch Geometric use (64 columns, dropout
0.5, decay 5e-4), and our former ones (32, 0.8, 5e-3). It prints a line of JSON for each graph and
setting: the mean accuracies over the splits.
"""

import glob
import gzip
import json
import os
import re
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.nn import SAGEConv

SETTINGS = [(64, 0.5, 5e-4), (32, 0.8, 5e-3)]
EPOCHS, PATIENCE = 200, 60


def coordinates(path):
    """Rows and columns of the entries of a Matrix Market file, and its shape."""
    with gzip.open(path, "rt") as f:
        lines = [line for line in f if not line.startswith("%")]
    rows, cols, _ = (int(x) for x in lines[0].split()[:3])
    entries = np.array([line.split()[:2] for line in lines[1:]], dtype=np.int64) - 1
    return entries[:, 0], entries[:, 1], (rows, cols)


def load(folder, name, device):
    cites = {"cora": "cora.cites.mtx.gz", "citeseer": "citeseer.mtx.gz"}[name]
    i, j, (n, _) = coordinates(os.path.join(folder, cites))
    pairs = np.unique(np.concatenate([i, j]) * n + np.concatenate([j, i]))
    edges = torch.tensor(np.stack([pairs % n, pairs // n]), device=device)
    i, j, shape = coordinates(os.path.join(folder, name + ".features.mtx.gz"))
    x = torch.zeros(shape)
    x[i, j] = 1
    x = (x / x.sum(1, keepdim=True).clamp(min=1)).to(device)
    names, y = {}, torch.full((n,), -1)
    for line in open(os.path.join(folder, name + ".labels.tsv")):
        f = line.split()
        if len(f) >= 2 and not line.startswith("#") and f[-1] != "-1":
            y[int(f[0]) - 1] = names.setdefault(f[-1], len(names))
    return x, edges, y.to(device), len(names)


class Net(torch.nn.Module):
    def __init__(self, features, hidden, classes, dropout):
        super().__init__()
        self.a, self.b, self.dropout = SAGEConv(features, hidden), SAGEConv(hidden, classes), dropout

    def forward(self, x, edges):
        h = F.dropout(x, self.dropout, self.training)
        h = F.relu(self.a(h, edges))
        return self.b(F.dropout(h, self.dropout, self.training), edges)


def train(x, edges, y, classes, parts, setting, seed):
    hidden, dropout, decay = setting
    torch.manual_seed(seed)
    net = Net(x.shape[1], hidden, classes, dropout).to(x.device)
    adam = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=decay)
    best, found, since = -1.0, 0.0, 0
    for _ in range(EPOCHS):
        net.train()
        adam.zero_grad()
        F.cross_entropy(net(x, edges)[parts["train"]], y[parts["train"]]).backward()
        adam.step()
        net.eval()
        with torch.no_grad():
            right = net(x, edges).argmax(1) == y
        validate = right[parts["validate"]].float().mean().item()
        since += 1
        if validate > best:
            best, found, since = validate, right[parts["test"]].float().mean().item(), 0
        if since == PATIENCE:
            break
    return best, found


def main():
    folder, splits = sys.argv[1:3]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ("cora", "citeseer"):
        x, edges, y, classes = load(folder, name, device)
        files = sorted(glob.glob(os.path.join(splits, name + "-*.tsv")))
        for setting in SETTINGS:
            results = []
            for path in files:
                parts = {"train": [], "validate": [], "test": []}
                for line in open(path):
                    v, part = line.split()
                    parts[part].append(int(v))
                parts = {k: torch.tensor(v, device=device) for k, v in parts.items()}
                seed = int(re.search(r"-(\d+)\.tsv$", path).group(1))
                results.append(train(x, edges, y, classes, parts, setting, seed))
            mean = np.mean(results, axis=0)
            print(json.dumps({"graph": name, "splits": len(files), "hidden": setting[0], "dropout": setting[1],
                              "decay": setting[2], "validation": round(mean[0], 4), "test": round(mean[1], 4)}), flush=True)


if __name__ == "__main__":
    main()
