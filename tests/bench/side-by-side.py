#!/usr/bin/env python3
"""side-by-side.py COMMAND… -- COMMAND…   the wall time of two commands, run in turn: the median of nine rounds, and the second one's part"""
import statistics, subprocess, sys, time

split = sys.argv.index("--", 1) if "--" in sys.argv else sys.exit(__doc__)
times = [], []
for _ in range(9):
    for command, took in zip((sys.argv[1:split], sys.argv[split + 1:]), times):
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        took.append(time.monotonic() - began)
first, second = map(statistics.median, times)
print(f"first {first:.3f} s  second {second:.3f} s  ratio {second / first:.3f}")
