#!/usr/bin/env python3
"""modules-of-cache.py PTXAS CACHE FOLDER   what a driver's cache was compiled from, and how

Writes for each entry NAME.ptx and NAME.made, its cubin, and compile.sh, which has PTXAS compile each to NAME.cubin, one after the other.
"""
import os
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/real"))
import twin

ptxas, cache, folder = sys.argv[1:]
os.mkdir(folder)
lines = ["set -e\n"]
for path in sorted(twin.entries_of(cache)):
    entry = twin.Entry(path)
    name = os.path.join(folder, entry.name)
    for end, content in ((".ptx", entry.ptx), (".made", entry.cubin)):
        with open(name + end, "wb") as file:
            file.write(content)
    words = [ptxas, "-arch=" + entry.target, *(["-c"] if entry.link else []), *entry.options.split(), name + ".ptx", "-o", name + ".cubin"]
    lines.append(shlex.join(words) + "\n")
with open(os.path.join(folder, "compile.sh"), "w") as file:
    file.writelines(lines)
