#!/usr/bin/env python3
"""fit-costs.py [FOLDER]: fits the model of docs/estimates.md to measured compiles.

FOLDER holds one CSV file a library (ptx_bytes, statements, branches, entries, compile_ms, peak_kib, cubin_bytes); default:
compile-costs of the test data ($JITWARM_TESTDATA, else ../shared/testdata beside the repository). Prints the coefficients of
the fit over all of them, which are compiled in (src/plan/estimate.c), and for each library its total by that fit and by the
fit over the others alone.
"""
import csv
import os
import pathlib
import sys

START_MS = 8.0  # of the compiler's process: measured, not fitted
NAMES = ("statements", "branches", "entries")


def read(path):
    with open(path, newline="") as file:
        return [([float(row[name]) for name in NAMES], float(row["compile_ms"])) for row in csv.DictReader(file)]


def solve(matrix, values):
    """Gauss and Jordan, for three unknowns."""
    rows = [row[:] + [value] for row, value in zip(matrix, values)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(len(rows)):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fit(modules):
    """Least squares, each residual divided by the square root of the time that was measured."""
    matrix, values = [[0.0] * 3 for _ in range(3)], [0.0] * 3
    for features, ms in modules:
        weight = 1 / max(ms, 1.0)
        for i in range(3):
            values[i] += weight * features[i] * (ms - START_MS)
            for j in range(3):
                matrix[i][j] += weight * features[i] * features[j]
    return solve(matrix, values)


def total(modules, factors):
    return sum(START_MS + sum(a * b for a, b in zip(features, factors)) for features, _ in modules)


def main():
    data = os.environ.get("JITWARM_TESTDATA") or pathlib.Path(__file__).parent.parent / "../shared/testdata"
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(data) / "compile-costs")
    libraries = {path.stem: read(path) for path in sorted(folder.glob("*.csv"))}
    if not libraries:
        sys.exit(f"fit-costs.py: {folder}: no *.csv there")
    factors = fit([module for modules in libraries.values() for module in modules])
    print("milliseconds = %g + " % START_MS + " + ".join("%.4g × %s" % pair for pair in zip(factors, NAMES)))
    for name, modules in libraries.items():
        others = [module for other, rest in libraries.items() if other != name for module in rest]
        real = sum(ms for _, ms in modules)
        print("%-36s %7.1f s   fit %+6.1f %%   held out %+6.1f %%" % (
            name, real / 1000, 100 * (total(modules, factors) / real - 1), 100 * (total(modules, fit(others)) / real - 1)))


if __name__ == "__main__":
    main()
