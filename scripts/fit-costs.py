#!/usr/bin/env python3
"""fit-costs.py [FOLDER]: fits the model of docs/estimates.md to measured compiles.

FOLDER holds one CSV file a library (ptx_bytes, statements, branches, entries, compile_ms, peak_kib, cubin_bytes); default:
compile-costs of the test data ($JITWARM_TESTDATA, else ../shared/testdata beside the repository). Prints the coefficients of
the fit over all of them, and for each library its total by that fit and by the fit over the others alone: of the time, whose
factors are compiled in (src/plan/estimate.c), and of the size, beside those that are. What a library adds to a cache is its
PTX, which is known, and its cubins. One library was compiled with line information: what that takes can be fitted, but not
held out.
"""
import csv
import os
import pathlib
import sys

START_MS = 8.0  # of the compiler's process: measured, not fitted
TIME = ("statements", "branches", "entries")
START_BYTES = 1000.0  # of the smallest cubin, rounded
SIZE = ("ptx_bytes", "statements", "entries", "line_info")  # the last: statements, where line information is asked for
SIZE_COMPILED_IN = (0.25, 12.0, 3500.0, 40.0)
LINE_INFO = ("xgboost",)  # whose option strings ask for it


def read(path):
    with open(path, newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    for row in rows:
        row["line_info"] = row["statements"] if path.stem.startswith(LINE_INFO) else 0.0
    return rows


def solve(matrix, values):
    """Gauss and Jordan. An unknown that nothing depends on is 0."""
    rows = [row[:] + [value] for row, value in zip(matrix, values)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if not rows[i][i]:
            rows[i][i] = 1.0
        for k in range(len(rows)):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fit(modules, names, wanted, start):
    """Least squares, each residual divided by the square root of what was measured."""
    size = len(names)
    matrix, values = [[0.0] * size for _ in range(size)], [0.0] * size
    for module in modules:
        weight = 1 / max(module[wanted], 1.0)
        for i, left in enumerate(names):
            values[i] += weight * module[left] * (module[wanted] - start)
            for j, right in enumerate(names):
                matrix[i][j] += weight * module[left] * module[right]
    return solve(matrix, values)


def total(modules, names, factors, start):
    return sum(start + sum(module[name] * factor for name, factor in zip(names, factors)) for module in modules)


def rest(libraries, held_out):
    return [module for name, modules in libraries.items() if name != held_out for module in modules]


def print_time(libraries):
    args = (TIME, "compile_ms", START_MS)
    factors = fit(rest(libraries, None), *args)
    print("milliseconds = %g + " % START_MS + " + ".join("%.4g × %s" % pair for pair in zip(factors, TIME)))
    for name, modules in libraries.items():
        real = sum(module["compile_ms"] for module in modules)
        off = [100 * (total(modules, TIME, found, START_MS) / real - 1) for found in (factors, fit(rest(libraries, name), *args))]
        print("%-36s %7.1f s   fit %+6.1f %%   held out %+6.1f %%" % (name, real / 1000, *off))


def print_size(libraries):
    args = (SIZE, "cubin_bytes", START_BYTES)
    factors = fit(rest(libraries, None), *args)
    print("bytes of the cubin = %g + " % START_BYTES + " + ".join("%.4g × %s" % pair for pair in zip(factors, SIZE)))
    for name, modules in libraries.items():
        real = sum(module["cubin_bytes"] for module in modules)
        ptx = sum(module["ptx_bytes"] for module in modules)
        line = "%-36s %7.1f MB" % (name, real / 1e6)
        for what, found in ("compiled in", SIZE_COMPILED_IN), ("fit", factors), ("held out", fit(rest(libraries, name), *args)):
            made = total(modules, SIZE, found, START_BYTES)
            if what == "held out" and name.startswith(LINE_INFO):
                line += "   held out: nothing else has line information"
            else:
                line += "   %s %+6.1f %% (cache %+5.1f %%)" % (what, 100 * (made / real - 1), 100 * ((made + ptx) / (real + ptx) - 1))
        print(line)


def main():
    data = os.environ.get("JITWARM_TESTDATA") or pathlib.Path(__file__).parent.parent / "../shared/testdata"
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(data) / "compile-costs")
    libraries = {path.stem: read(path) for path in sorted(folder.glob("*.csv"))}
    if not libraries:
        sys.exit(f"fit-costs.py: {folder}: no *.csv there")
    print_time(libraries)
    print()
    print_size(libraries)


if __name__ == "__main__":
    main()
