#!/usr/bin/env python3
"""run-tests.py [--retry-mute] NAME BUILD-FOLDER [CTEST-OPTION...]
run-tests.py --stage NAME STATUS
run-tests.py --summary SECONDS

Runs ctest, and shows how many of its tests have ended; or notes how a stage without tests ended; or prints how all of them ended. The file
that JITWARM_RESULTS names holds the outcomes until then, a line of JSON for each.

--retry-mute  a test that failed without printing anything runs again (Wine does not always start a program)

Exit status: 0, or 1 if something failed; 64 wrong usage.
"""
import json, os, re, subprocess, sys, time
import xml.etree.ElementTree as xml

# A test of the set `first` that takes longer than this, in seconds, when it runs alone, is named in the summary.
FIRST_MOST_S = 5
# The progress is a line that is written again on a terminal, and elsewhere a new line after so many seconds.
LINE_EVERY_S = 20
OUTPUT_LINES, OUTPUT_WIDTH = 40, 400
REASON_LINES, REASON_WIDTH = 4, 200
SHOWN_SKIPPED = 40
SHOWN_SLOW, SLOW_S = 10, 10


def note(outcome):
    with open(os.environ["JITWARM_RESULTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(outcome) + "\n")


def clock(seconds):
    return "%d:%02d" % divmod(int(seconds), 60)


class Progress:
    """How far ctest is, by the lines that it prints."""

    ENDED = re.compile(r"^ *(\d+)/(\d+) Test +#\d+: (\S+) .*?(\*\*\*\S+|Passed)")

    def __init__(self, stage):
        self.stage, self.began, self.shown = stage, time.monotonic(), 0.0
        self.terminal = sys.stdout.isatty()

    def line(self, text, stays):
        if self.terminal:
            print("\r\033[K" + text, end="\n" if stays else "", flush=True)
        elif stays or time.monotonic() - self.shown >= LINE_EVERY_S:
            self.shown = time.monotonic()
            print(text, flush=True)

    def read(self, line):
        ended = self.ENDED.match(line)
        if not ended:
            return
        at, of, name, how = ended.groups()
        elapsed = clock(time.monotonic() - self.began)
        if how.startswith("***") and how != "***Skipped":
            self.line("%s: %s FAILED (%s)" % (self.stage, name, how[3:]), True)
        self.line("%s: %s of %s tests, %s" % (self.stage, at, of, elapsed), at == of)


def outputs(folder):
    """What each test of the last run printed: ctest's report leaves out what skipped tests printed."""
    with open(folder + "/Testing/Temporary/LastTest.log", encoding="utf-8", errors="replace") as file:
        parts = re.split(r"^\d+/\d+ Testing: ", file.read(), flags=re.M)[1:]
    for part in parts:
        name, rest = part.split("\n", 1)
        output = re.search(r"^Output:\n-+\n(.*?)^<end of output>", rest, re.M | re.S)
        yield name, output[1].splitlines() if output else []


def outcomes(stage, folder, report):
    """One for each test that ctest reports."""
    by_test = dict(outputs(folder))
    for case in xml.parse(report).getroot().iter("testcase"):
        printed = [line for line in by_test.get(case.get("name"), []) if line.strip()]
        # cmocka prints these lines for tests that pass.
        printed = [line[:OUTPUT_WIDTH] for line in printed if not re.match(r"\[ +(RUN|OK) +\]", line)]
        how = "passed" if case.get("status") == "run" else "skipped" if case.find("skipped") is not None else "failed"
        yield {"stage": stage, "name": case.get("name"), "how": how, "seconds": float(case.get("time") or 0), "printed": printed[-OUTPUT_LINES:]}


def ctest(stage, folder, options):
    report = os.path.join(os.path.abspath(folder), "tests.xml")
    if os.path.exists(report):
        os.remove(report)
    progress = Progress(stage)
    command = ["ctest", "--output-junit", report, "--no-tests=error", *options]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            progress.read(line)
    if not os.path.exists(report):
        return [{"stage": stage, "name": stage, "how": "failed", "seconds": 0, "printed": ["ctest ran no test"]}]
    return list(outcomes(stage, folder, report))


def reason(outcome):
    lines = [line for line in outcome["printed"] if re.match(r"FAILED|[-+](?![-+]{2} )|.*(error|ERROR|Failure|gives )", line)]
    return [line[:REASON_WIDTH] for line in lines[:REASON_LINES] or outcome["printed"][-REASON_LINES:]]


def why_skipped(outcome):
    """The last line that says so; a unit test names its cases that were left out."""
    said = [line for line in outcome["printed"] if re.search("skipped", line, re.I) and not line.endswith("listed below:")]
    return (said or outcome["printed"] or ["it says no reason"])[-1][:REASON_WIDTH]


def run(stage, folder, options, retry):
    found = ctest(stage, folder, options)
    mute = {one["name"] for one in found if one["how"] == "failed" and not one["printed"]}
    if retry and mute:
        print("%s: failed without a word, and run again: %s" % (stage, " ".join(sorted(mute))), flush=True)
        again = ctest(stage, folder, ["-R", "^(%s)$" % "|".join(map(re.escape, sorted(mute)))])
        found = [one for one in found if one["name"] not in mute] + [one for one in again if one["name"] in mute]
    for one in found:
        note(one)
        if one["how"] == "failed":
            print("---- %s: %s failed, at the end:" % (stage, one["name"]))
            print("\n".join(one["printed"]), flush=True)
    return any(one["how"] == "failed" for one in found)


def summary(seconds):
    with open(os.environ["JITWARM_RESULTS"], encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    how = {name: [one for one in found if one["how"] == name] for name in ("passed", "failed", "skipped")}
    # Tests share the cores with those that run beside them.
    most = FIRST_MOST_S * max(1, int(os.environ.get("CTEST_PARALLEL_LEVEL", 1)) / os.cpu_count())
    by_time = sorted(found, key=lambda one: -one["seconds"])
    slow = [one for one in by_time if one["stage"] == "first tests" and one["seconds"] > most]
    print()
    for title, named in (("warning: slow for the first set", slow), ("the slowest", [one for one in by_time if one["seconds"] >= SLOW_S])):
        if named:
            print("%s: %s" % (title, ", ".join("%s (%.0f s)" % (one["name"], one["seconds"]) for one in named[:SHOWN_SLOW])))
    if how["skipped"]:
        print("skipped:")
        for one in how["skipped"][:SHOWN_SKIPPED]:
            print("  %s: %s" % (one["name"], why_skipped(one)))
        if len(how["skipped"]) > SHOWN_SKIPPED:
            print("  and %d others" % (len(how["skipped"]) - SHOWN_SKIPPED))
    if how["failed"]:
        print("failed:")
        for one in how["failed"]:
            print("  %s: %s" % (one["stage"], one["name"]))
            for line in reason(one):
                print("    " + line)
    print("in all %s" % clock(seconds))
    # Programs that count tests read this line.
    print("%d passed, %d failed, %d skipped" % tuple(len(how[name]) for name in ("passed", "failed", "skipped")))
    return bool(how["failed"]) or not how["passed"]


def main(arguments):
    retry = arguments[:1] == ["--retry-mute"]
    arguments = arguments[retry:]
    if len(arguments) == 3 and arguments[0] == "--stage":
        how = {"0": "passed", "77": "skipped"}.get(arguments[2], "failed")
        note({"stage": arguments[1], "name": arguments[1], "how": how, "seconds": 0, "printed": []})
        return 0
    if len(arguments) == 2 and arguments[0] == "--summary":
        return summary(int(arguments[1]))
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(__doc__, end="", file=sys.stderr)
        return 64
    return run(arguments[0], arguments[1], arguments[2:], retry)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
