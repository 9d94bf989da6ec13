#!/usr/bin/env python3
"""fit-costs.py [FOLDER]: fits the model of docs/internals/estimates.md to measured compiles.

FOLDER holds one CSV file a library; default: tests/data/compile-costs, whose README.md explains the columns. Prints the
factors of the fit over all of them, and for each library its total by that fit and by the fit over the others alone (no
version of the same library): of the time, whose factors are compiled in (src/plan/estimate.c), and of the size, beside those
that are. How much slower the second machine is gets fitted too. What a library adds to a cache is its PTX, which is known,
and its cubins. One library was compiled with line information: what that takes can be fitted, but not held out.
"""
import csv
import math
import pathlib
import sys

PROCESS_MS = 8.0  # the start of a ptxas process, which was measured and not fitted
TIME = ("start", "entries", "divisions", "lengthy")
START_BYTES = 1000.0  # the size of the smallest cubin, rounded
SIZE = ("ptx_bytes", "statements", "entries", "line_info")  # the last one is the number of statements, if line information is requested
SIZE_COMPILED_IN = (0.25, 12.0, 3500.0, 40.0)
LINE_INFO = "xgboost"  # its option strings request line information
TURNS = 40


class Library:
    def __init__(self, path):
        self.machine, self.name = path.stem.split("-", 1)
        # Two TensorFlow releases years apart have little in common; releases of other libraries have much in common.
        self.family = self.name if self.name.startswith("tensorflow") else self.name.split("-")[0]
        self.process_ms = PROCESS_MS if self.machine == "ptxas" else 0.0
        with open(path, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row.pop("form") == "load"]
        self.modules = [{name: float(value) for name, value in row.items()} for row in rows]
        for row in self.modules:
            row["start"] = 1.0 if self.machine == "driver" else 0.0
            row["lengthy"] = row["statements"] * (row["statements"] / max(row["entries"], 1) / 1000) ** (1 / 3)
            row["line_info"] = row["statements"] if self.name.startswith(LINE_INFO) else 0.0

    def sum(self, column):
        return sum(row[column] for row in self.modules)

    def predict(self, names, factors):
        return sum(self.sum(name) * factor for name, factor in zip(names, factors))


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


def fit(samples, size):
    """Least squares; a sample is its features, what was measured, its weight."""
    matrix, values = [[0.0] * size for _ in range(size)], [0.0] * size
    for features, wanted, weight in samples:
        for i, left in enumerate(features):
            values[i] += weight * left * wanted
            for k, right in enumerate(features):
                matrix[i][k] += weight * left * right
    return solve(matrix, values)


def time_samples(libraries, slower):
    """Each residual is divided by the square root of the time, and each library counts the same."""
    for library in libraries:
        scale = slower[library.machine]
        whole = sum(max(row["ms"] - library.process_ms, 0) for row in library.modules) / scale
        for row in library.modules:
            wanted = max(row["ms"] - library.process_ms, 0) / scale
            yield [row[name] for name in TIME], wanted, 1 / max(row["ms"] / scale, 1) / whole


def time_of(library, factors, slower):
    return library.predict(TIME, factors) * slower[library.machine] + library.process_ms * len(library.modules)


def fit_time(libraries):
    """The factors, and how much slower each machine is than that of ptxas."""
    slower = {"ptxas": 1.0, "driver": 3.0}
    for _ in range(TURNS):
        factors = fit(time_samples(libraries, slower), len(TIME))
        for machine in slower:
            logs = [math.log(library.sum("ms") / time_of(library, factors, slower))
                    for library in libraries if library.machine == machine]
            slower[machine] *= math.exp(sum(logs) / len(logs))
        slower = {machine: value / slower["ptxas"] for machine, value in slower.items()}
    return factors, slower


def print_time(libraries):
    factors, slower = fit_time(libraries)
    print("milliseconds = " + " + ".join("%.4g × %s" % pair for pair in zip(factors, TIME)) + "   driver: × %.3f" % slower["driver"])
    for library in libraries:
        others = [other for other in libraries if other.family != library.family]
        held_out = fit(time_samples(others, slower), len(TIME))
        ratios = [time_of(library, found, slower) / library.sum("ms") for found in (factors, held_out)]
        print("%-6s %-34s %7.1f s   fit × %.2f   held out × %.2f" % (library.machine, library.name, library.sum("ms") / 1000, *ratios))


def size_samples(libraries):
    for library in libraries:
        for row in library.modules:
            yield [row[name] for name in SIZE], row["cubin_bytes"] - START_BYTES, 1 / max(row["cubin_bytes"], 1.0)


def print_size(libraries):
    factors = fit(size_samples(libraries), len(SIZE))
    print("bytes of the cubin = %g + " % START_BYTES + " + ".join("%.4g × %s" % pair for pair in zip(factors, SIZE)))
    for library in libraries:
        real, ptx = library.sum("cubin_bytes"), library.sum("ptx_bytes")
        line = "%-36s %7.1f MB" % (library.name, real / 1e6)
        held_out = fit(size_samples([other for other in libraries if other is not library]), len(SIZE))
        for what, found in ("compiled in", SIZE_COMPILED_IN), ("fit", factors), ("held out", held_out):
            if what == "held out" and library.name.startswith(LINE_INFO):
                line += "   held out: nothing else has line information"
                continue
            made = library.predict(SIZE, found) + START_BYTES * len(library.modules)
            line += "   %s %+6.1f %% (cache %+5.1f %%)" % (what, 100 * (made / real - 1), 100 * ((made + ptx) / (real + ptx) - 1))
        print(line)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "tests/data/compile-costs"
    libraries = [Library(path) for path in sorted(folder.glob("*-*.csv"))]
    if not libraries:
        sys.exit(f"fit-costs.py: {folder}: no *.csv there")
    print_time(libraries)
    print()
    print_size([library for library in libraries if library.machine == "ptxas"])


if __name__ == "__main__":
    main()
