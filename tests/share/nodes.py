#!/usr/bin/env python3
"""nodes.py [-n NODES] [-m MODULES] [-s STATEMENTS] [-c FACTOR] [-k] [-x] BUILD FOLDER [OPTION...]   many machines prime the same files together

Starts NODES processes of “jitwarm prime --share FOLDER/place” at once, each with a state and a cache of its own, and two workers, under the simulated
driver, which takes the time of real compiles, by sleeping. -k: a third of them is killed half way; -x: then
the place is taken away too. -c: each compile takes FACTOR times as long, and each node knows it as from
earlier runs: what the nodes themselves take of the few processors that all of them share is then as little of the time as on machines of their own.
Prints one line of JSON: the compiles of all nodes together, those of one node alone, the time, and the ideal one. Fails if a node
that was not killed has not everything in the end.
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
words = argparse.ArgumentParser(usage=__doc__)
words.add_argument("-n", type=int, default=8)
words.add_argument("-m", type=int, default=48)
words.add_argument("-s", type=int, default=12000)
words.add_argument("-c", type=int, default=1)
words.add_argument("-k", action="store_true")
words.add_argument("-x", action="store_true")
words.add_argument("build", type=pathlib.Path)
words.add_argument("folder", type=pathlib.Path)
given, more = words.parse_known_args()

folder = given.folder
folder.mkdir(parents=True, exist_ok=True)
library = folder / "libmodules.so"
if not library.exists():
    subprocess.run([ROOT / "tests/bench/make-modules.py", str(given.m), str(given.s), library], check=True)
place = str(folder / "place")
os.makedirs(place, exist_ok=True)
runner = [str(ROOT / "scripts/with-simdriver.sh"), "-B", str(given.build), "sm_86", "--", str(given.build / "src/jitwarm"), "prime", "-j2",
          "--json", "--share", place, *(more or ["--share-unsigned"]), str(library)]


def start(node):
    home = folder / ("node-%d" % node)
    (home / "state").mkdir(parents=True)
    if given.c > 1:
        # The model predicts two to four times the simulated driver's time for its modules.
        learnt = {"release": 550, "cuda": 12040, "model_ms": 120000, "real_ms": 120000 * min(19, max(1, given.c / 2.5))}
        (home / "state" / "state.json").write_text(json.dumps({"schema": "jitwarm.state/1", "speed": {"schema": "jitwarm.speed/4", "rows": [learnt]}}))
    environment = dict(os.environ, CUDA_CACHE_PATH=str(home / "cache"), JITWARM_STATE=str(home / "state"), SIMDRIVER_LOG=str(home / "log"),
                       SIMDRIVER_COST=str(given.c))
    return subprocess.Popen(runner, env=environment, stdout=open(home / "out", "wb"), stderr=open(home / "err", "wb"), start_new_session=True)


def compiles(node):
    try:
        return sum(" compile " in line for line in open(folder / ("node-%d" % node) / "log"))
    except FileNotFoundError:
        return 0


# The probe of the driver compiles too: a node that finds everything shows the cost.
began = time.time()
nodes = [start(i) for i in range(given.n)]
started = time.time() - began
killed = []
if given.k or given.x:
    while sum(compiles(i) for i in range(given.n)) < given.m / 2 + given.n and sum(node.poll() is not None for node in nodes) < given.n / 2:
        time.sleep(min(0.5, 0.02 * given.c))
    for node in nodes[:given.n // 3 if given.k else 0]:
        try:
            os.killpg(node.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        killed.append(node)
    if given.x:
        os.rename(place, place + ".gone")
ended = [node.wait() for node in nodes]
took = time.time() - began
ok = [i for i in range(given.n) if nodes[i] not in killed]
documents = [json.loads((folder / ("node-%d" % i) / "out").read_text()) for i in ok]
used = resource.getrusage(resource.RUSAGE_CHILDREN)
report = {
    "nodes": given.n, "killed": len(killed), "modules": given.m, "started_s": round(started, 2), "took_s": round(took, 2),
    "compiled": sum(d["compiled"] for d in documents), "fetched": sum(d["shared"]["fetched"] for d in documents),
    "placed": sum(d["shared"]["placed"] for d in documents), "refused": sum(d["shared"]["refused"] for d in documents),
    "troubles": sorted({d["shared"].get("trouble", "") for d in documents} - {""}),
    "compile_s": round(sum(d["compile_seconds"] for d in documents), 2),
    "own_cpu_s": round(used.ru_utime + used.ru_stime, 1),
    "longest_s": round(max(d["longest_seconds"] for d in documents), 2),
}
report["times_one"] = round(report["compiled"] / given.m, 3)
# The ideal time has all workers busy, or is that of the longest module.
report["ideal_s"] = round(max(report["longest_s"], report["compile_s"] / max(1, report["compiled"]) * given.m / given.n / 2), 2)
report["times_ideal"] = round(took / max(0.01, report["ideal_s"]), 3)
print(json.dumps(report))
for i, document in zip(ok, documents):
    if ended[i] or document["undone"] or document["failed"] or document["compiled"] + document["shared"]["fetched"] != given.m:
        sys.exit("node %d ended with %d, and not everything is there: %s" % (i, ended[i], document))
