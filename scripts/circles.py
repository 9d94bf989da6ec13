#!/usr/bin/env python3
"""circles.py [BUILD ...]   prints every circle of files in src except those allowed below; nothing if there is none.

A source needs another one when its object needs a symbol that the other's object defines; a file needs each header that it
includes. Sources that need each other, directly or through others, are a circle: none of them can be linked, tested or
replaced alone. The files of each BUILD (default: build/release, and build/windows where it is there) are taken from the
compiler's dependency files, symbols from `nm`.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The circles that may be there, with the reason.
ALLOWED = {
    "an archive holds archives, so its walker walks again": {
        "src/devcode/walk.c", "src/devcode/walk_ar.c", "src/devcode/walk_archive.c", "src/devcode/walk_zip.c", "src/devcode/walk_zstd.c"},
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def objects_and_files(build):
    """Each object of src with its source, and all files of src that any of them was compiled from."""
    objects, files, current = {}, set(), None
    for line in output("ninja", "-C", str(build), "-t", "deps").splitlines():
        if not line.startswith(" "):
            current = line.split(":", 1)[0] if line.startswith("src/") and ": #deps" in line else None
            continue
        path = (build / line.strip()).resolve()
        if current and path.is_relative_to(ROOT / "src") and path.exists():
            name = str(path.relative_to(ROOT))
            files.add(name)
            if name.endswith(".c"):
                objects[current] = name
    return objects, files


def included(name, files):
    for header in re.findall(r'^#include "([^"]+)"', (ROOT / name).read_text(), re.MULTILINE):
        if "src/" + header in files:
            yield "src/" + header


def symbols(build, objects):
    """Of each object: the symbols that it defines, and those that it needs."""
    defined, needed = {}, {}
    current = None
    for line in output("nm", "-A", "-P", *[str(build / name) for name in objects]).splitlines():
        path, symbol, kind = re.match(r"(.*): (\S+) (\S)", line).groups()
        source = objects[str(Path(path).relative_to(build))]
        if kind == "U":
            needed.setdefault(source, set()).add(symbol)
        elif kind.isupper():
            defined[symbol] = source
    return defined, needed


def graph(build):
    """What each file needs, and why."""
    objects, files = objects_and_files(build)
    if not objects:
        sys.exit(f"circles.py: {build}: no dependency files: cmake --build --preset release")
    edges = {name: {} for name in files}
    for name in files:
        for header in included(name, files):
            edges[name].setdefault(header, f"{name} includes {header}")
    defined, needed = symbols(build, objects)
    for source in needed:
        for symbol in sorted(needed[source] & defined.keys()):
            edges[source].setdefault(defined[symbol], f"{source} needs {symbol} of {defined[symbol]}")
    return edges


def circles(edges):
    """Strongly connected components of more than one file (Tarjan, without recursion)."""
    order, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(edges):
        if start in order:
            continue
        work = [(start, iter(sorted(edges[start])))]
        order[start] = low[start] = len(order)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    component = set(stack[at:])
                    del stack[at:]
                    on_stack -= component
                    if len(component) > 1:
                        found.append(component)
            elif following not in order:
                order[following] = low[following] = len(order)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(sorted(edges[following]))))
            elif following in on_stack:
                low[node] = min(low[node], order[following])
    return found


def is_allowed(circle):
    return any(circle <= parts for parts in ALLOWED.values())


def main():
    builds = sys.argv[1:] or [name for name in ("build/release", "build/windows") if (ROOT / name).is_dir()]
    for build in builds or ["build/release"]:
        edges = graph((ROOT / build).resolve())
        for circle in sorted(filter(lambda circle: not is_allowed(circle), circles(edges)), key=sorted):
            print(f"{build}: a circle of {len(circle)} files:")
            for node in sorted(circle):
                for other in sorted(set(edges[node]) & circle - {node}):
                    print("   ", edges[node][other])


if __name__ == "__main__":
    main()
