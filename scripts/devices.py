#!/usr/bin/env python3
"""Runs the workflows of the command line on the CPU and on a GPU over real graphs
and compares their output: whole numbers exactly, floats to a relative 1e-6.

    scripts/devices.py HIVEBLAS DATA [DEVICE]

docs/real-input.md describes the folder DATA. The exit code is 1 on a difference.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

binary, data = sys.argv[1], sys.argv[2]
device = sys.argv[3] if len(sys.argv) > 3 else "gpu"
ml, graphs = data + "/movielens/ml-100k.mtx.gz", data + "/graphs/"

# The command, the suffix of its output ("" for none), and the figures of its
# summary to compare.
cases = [(["project", ml, "--onto", side] + how, ".tsv", ["nnz", "sum", "max"])
         for side in ("cols", "rows") for how in ([], ["--unweighted"], ["--weight", "ratio"])]
cases += [
    (["vn", graphs + "ak2010.mtx.gz", "--seeds", "0,100,20000"], ".tsv", []),
    (["vn", graphs + "wiki-Vote.mtx.gz", "--seeds", "0,3,5"], ".tsv", []),
    (["sssp", graphs + "ak2010.mtx.gz", "--source", "17"], ".tsv", []),
    (["sssp", graphs + "cities.mtx.gz", "--source", "3"], ".tsv", []),
]
for g in ("email-Enron", "soc-Slashdot0902", "ca-AstroPh", "wiki-Vote", "as-22july06"):
    f = graphs + g + ".mtx.gz"
    cases += [
        (["bfs", f, "--source", "1"], ".tsv", []),
        (["bfs", f, "--source", "1", "--parents"], ".tsv", []),
        (["pagerank", f], ".tsv", ["iterations"]),
        (["cc", f], ".tsv", ["components", "largest"]),
        (["tc", f], "", ["triangles"]),
        (["ktruss", f, "-k", "5"], ".tsv", []),
    ]


def run(where, command, out):
    args = [binary] + command + ["--device", where, "--json"] + (["-o", out] if out else [])
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode != 0:
        return None, (p.stderr or p.stdout).strip()[:200]
    return json.loads(p.stdout), ""


def same(a, b):
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    if x == int(x) and y == int(y) and abs(x) < 2**53 and "." not in a + b and "e" not in (a + b).lower():
        return x == y
    return math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-300)


def difference(cpu, gpu):
    with open(cpu) as f, open(gpu) as g:
        n = 0
        for n, (x, y) in enumerate(zip(f, g), 1):
            if x != y:
                p, q = x.split(), y.split()
                if len(p) != len(q) or not all(map(same, p, q)):
                    return f"line {n}: {x.strip()} on the CPU, {y.strip()} on the GPU"
        if f.readline() or g.readline():
            return f"one output has more than {n} lines"
    return ""


bad = 0
with tempfile.TemporaryDirectory() as tmp:
    for command, suffix, figures in cases:
        name = " ".join(os.path.basename(c) for c in command)
        files = {w: os.path.join(tmp, w.replace(":", "") + suffix) if suffix else "" for w in ("cpu", device)}
        cpu, err = run("cpu", command, files["cpu"])
        if cpu is None:
            print(f"ERROR  {name}: on the CPU: {err}")
            bad += 1
            continue
        gpu, err = run(device, command, files[device])
        if gpu is None:
            print(f"ERROR  {name}: {err}")
            bad += 1
            continue
        wrong = difference(files["cpu"], files[device]) if suffix else ""
        for figure in figures:
            if figure not in cpu or not same(str(cpu[figure]), str(gpu.get(figure))):
                wrong = wrong or f"{figure}: {cpu.get(figure)} on the CPU, {gpu.get(figure)} on the GPU"
        seconds = lambda r: (r.get("seconds") or {}).get("compute") if isinstance(r.get("seconds"), dict) else None
        print(f"{'DIFFERS' if wrong else 'same   '}{name}  [{gpu.get('device')}; {gpu.get('method', '')}] {seconds(cpu)} s, {seconds(gpu)} s  {wrong}")
        bad += bool(wrong)
print(f"{len(cases) - bad} of {len(cases)} agree")
sys.exit(bad > 0)
