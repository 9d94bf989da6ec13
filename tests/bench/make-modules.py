#!/usr/bin/env python3
"""make-modules.py COUNT STATEMENTS LIBRARY   a shared library with COUNT modules of real compile work

Writes LIBRARY, whose .nv_fatbin holds COUNT containers with one PTX each, and LIBRARY.list: offset and size of each container in it.
The modules have from half to twice STATEMENTS statements, in no order. The same arguments give the same library. Needs cc.
"""
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/framework"))
import fatbin


def main():
    count, statements, library = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    dice = random.Random(count * statements)
    body, places = b"", []
    for i in range(count):
        size = int(statements * 2 ** dice.uniform(-1, 1))
        text = subprocess.run([sys.executable, os.path.join(ROOT, "ptx/make-sample.py"), "module_%d" % i, str(size)],
                              stdout=subprocess.PIPE, check=True).stdout
        data = fatbin.container(fatbin.entry(fatbin.PTX, 52, fatbin.ptx_payload(text), compression="lz4"))
        places.append((len(body), len(data)))
        body += data
    with tempfile.TemporaryDirectory() as scratch:
        with open(scratch + "/modules", "wb") as file:
            file.write(body)
        with open(scratch + "/modules.s", "w") as file:
            file.write('.section .nv_fatbin,"a"\n.balign 8\n.incbin "%s/modules"\n' % scratch)
        subprocess.run(["cc", "-shared", "-nostdlib", "-o", library, scratch + "/modules.s"], check=True)
    with open(library, "rb") as file:
        start = file.read().index(body[:64])
    with open(library + ".list", "w") as file:
        file.writelines("%d %d\n" % (start + at, size) for at, size in places)


main()
