"""printed.py FILE...   the commands that a run of jitwarm has printed behind “Next”, “Do” and “try”, from its outputs

Each is a line of three parts: the finding of doctor that the command cures, or “-”; “then” if the line names another step that comes first, else
“now”; and the command."""
import re, sys

lines = [line for name in sys.argv[1:] for line in open(name, encoding="utf-8", errors="surrogateescape").read().split("\n")]
finding = "-"
for line in lines:
    if begin := re.match(r" *[0-9]+  ([a-z-]+): ", line):
        finding = begin[1]
    if not re.match(r" *(Next|Do|다음)[: ]|jitwarm: {4}|.*\btry “jitwarm ", line):
        continue
    last = re.search(r"^.*: “(jitwarm [^”]*)”$|^.*: (jitwarm(?: .*)?)$|^(?:Next|다음):? +(jitwarm(?: .*)?)$", line)
    last = last and next(filter(None, last.groups()))
    found = re.findall(r"[“\"](jitwarm [^”\"]*)[”\"]", line)
    for command in dict.fromkeys(found + [last] * bool(last)):
        cures = command == last and re.match(r" *Do: ", line)
        then = re.search(r"first (fix|free some space)|, then: ", line)
        sys.stdout.buffer.write("\t".join([finding if cures else "-", "then" if then else "now", command]).encode("utf-8", "surrogateescape") + b"\n")
