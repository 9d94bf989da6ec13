"""behaviour.py CONFORMANCE   docs/contributing/driver-behaviour.md has a row for each case of the suite, in its order, and the pages of docs/internals name
no case that is gone

Exit status 1, and what differs."""
import pathlib, re, subprocess, sys

docs = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
cases = subprocess.run([sys.argv[1], "--list"], capture_output=True, encoding="utf-8", check=True).stdout.splitlines()
head, *rows = re.search(r"^\| fact \|.*\n(?:\|.*\n)+", (docs / "contributing/driver-behaviour.md").read_text(encoding="utf-8"), re.M).group().splitlines()
rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]
names, wrong = [row[0] for row in rows], []
wrong += [f"driver-behaviour.md has no row for “{case}”: run scripts/driver-matrix.sh" for case in cases if case not in names]
wrong += [f"driver-behaviour.md: “{name}” is no case of the suite" for name in names if name not in cases]
wrong += [f"driver-behaviour.md: the rows are not in the suite's order"] * (not wrong and names != cases)
wrong += [f"driver-behaviour.md: “{row[0]}” has an answer that is none: {row[1:]}" for row in rows
          if len(row) != head.count("|") - 1 or set(row[1:]) - {"yes", "**no**", "–", "not asked"}]
families = {case.split("/")[0] for case in cases}
for page in sorted((docs / "internals").glob("*.md")):
    for named in re.findall(r"`(%s)/([^`…]*)…?`" % "|".join(sorted(families)), page.read_text(encoding="utf-8")):
        if not any(case.startswith("/".join(named)) for case in cases):
            wrong.append(f"{page.name}: no case begins with “{'/'.join(named)}”")
print("\n".join(wrong))
sys.exit(bool(wrong))
