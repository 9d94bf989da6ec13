#!/usr/bin/env python3
"""nodes.py [-n NODES] [-m MODULES] [-s STATEMENTS] [-k] [-x] BUILD FOLDER [PLACE] [OPTION...]   many machines prime the same files together

Starts NODES processes of “jitwarm prime --share PLACE” at once, each with a state and a cache of its own, and two workers, under the simulated
driver, which takes the time of real compiles. PLACE is FOLDER/place without one. -k: a third of them is killed half way; -x: then the place is
taken away too. Prints one line of JSON: the compiles of all nodes together, those of one node alone, and the times. Fails if a node
that was not killed has not everything in the end.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
words = argparse.ArgumentParser(usage=__doc__)
words.add_argument("-n", type=int, default=8)
words.add_argument("-m", type=int, default=48)
words.add_argument("-s", type=int, default=12000)
words.add_argument("-k", action="store_true")
words.add_argument("-x", action="store_true")
words.add_argument("build", type=pathlib.Path)
words.add_argument("folder", type=pathlib.Path)
words.add_argument("place", nargs="?")
given, more = words.parse_known_args()

folder = given.folder
folder.mkdir(parents=True, exist_ok=True)
library = folder / "libmodules.so"
if not library.exists():
    subprocess.run([ROOT / "tests/bench/make-modules.py", str(given.m), str(given.s), library], check=True)
place = given.place or str(folder / "place")
if not given.place:
    os.makedirs(place, exist_ok=True)
runner = [str(ROOT / "scripts/with-simdriver.sh"), "-B", str(given.build), "sm_86", "--", str(given.build / "src/jitwarm"), "prime", "-j2",
          "--json", "--share", place, *(more or ["--share-unsigned"]), str(library)]


def start(node):
    home = folder / ("node-%d" % node)
    home.mkdir()
    environment = dict(os.environ, CUDA_CACHE_PATH=str(home / "cache"), JITWARM_STATE=str(home / "state"), SIMDRIVER_LOG=str(home / "log"),
                       SIMDRIVER_COST="1")
    return subprocess.Popen(runner, env=environment, stdout=open(home / "out", "wb"), stderr=open(home / "err", "wb"), start_new_session=True)


def compiles(node):
    try:
        return sum(" compile " in line for line in open(folder / ("node-%d" % node) / "log"))
    except FileNotFoundError:
        return 0


# The probe of the driver compiles too: a node that finds everything shows how much that is.
began = time.time()
nodes = [start(i) for i in range(given.n)]
started = time.time() - began
killed = []
if given.k or given.x:
    while sum(compiles(i) for i in range(given.n)) < given.m / 2 + given.n and any(node.poll() is None for node in nodes):
        time.sleep(0.02)
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
report = {
    "nodes": given.n, "killed": len(killed), "modules": given.m, "started_s": round(started, 2), "took_s": round(took, 2),
    "compiled": sum(d["compiled"] for d in documents), "fetched": sum(d["shared"]["fetched"] for d in documents),
    "placed": sum(d["shared"]["placed"] for d in documents), "refused": sum(d["shared"]["refused"] for d in documents),
    "troubles": sorted({d["shared"].get("trouble", "") for d in documents} - {""}),
    "cpu_s": round(sum(d["compile_seconds"] for d in documents), 2),
    "longest_s": round(max(d["longest_seconds"] for d in documents), 2),
}
report["times_one"] = round(report["compiled"] / given.m, 3)
print(json.dumps(report))
for i, document in zip(ok, documents):
    if ended[i] or document["undone"] or document["failed"] or document["compiled"] + document["shared"]["fetched"] != given.m:
        sys.exit("node %d ended with %d, and not everything is there: %s" % (i, ended[i], document))
