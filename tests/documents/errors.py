#!/usr/bin/env python3
"""errors.py JITWARM [--write]   checks that jitwarm doctor finds each row of data/errors.tsv by each of its words, name and number, and the
rows and the numbers of each text of tests/data/error-texts.txt; and that docs/troubleshooting.md and its translations have the table.
--write writes the tables instead"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = [line.split("\t") for line in (ROOT / "data/errors.tsv").read_text().splitlines()[1:]]
OTHERS = [pattern for row in TABLE if row[3] == "other" for pattern in row[2].split("|")]  # messages of other makers' GPUs
ROWS = [row for row in TABLE if row[3] != "other"]
SETS = {name: words.split("|") for name, words in (line.split("\t") for line in (ROOT / "data/error-words.tsv").read_text().splitlines()[1:])}
HEADS = {"en": "| error | message | cause | what to do |", "ko": "| 오류 | 메시지 | 원인 | 할 일 |"}
program, failures = sys.argv[1], []


def translations(language):
    """{English text: text}, of texts that are one line in the catalogue or several"""
    text = re.sub(r'"\n"', "", (ROOT / f"po/{language}.po").read_text()) if language != "en" else ""
    return {english.replace('\\"', '"'): there.replace('\\"', '"') for english, there in re.findall(r'^msgid "(.*)"\nmsgstr "(.*)"$', text, re.M)}


def texts_of(pattern, tried=set()):
    """Texts with a pattern: its sets stand for their first words, and each other word of a set is in one text of all"""
    sets = re.findall("{(.*?)}", pattern)
    first = [SETS[name][0] for name in sets]
    choices = [first] + [first[:i] + [word] + first[i + 1 :] for i, name in enumerate(sets) for word in SETS[name] if (name, word) not in tried]
    tried.update((name, word) for name in sets for word in SETS[name])
    for choice in choices:
        words = iter(choice)
        yield re.sub("{.*?}", lambda _, words=words: next(words), pattern).replace("*.", "12.").replace("*", "12.4").replace("~", "at this place")


def markdown(text):
    return re.sub("“([^”]*)”", r"`\1`", text).replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


def example(pattern):
    return re.sub("…+", "…", re.sub("[*~]", "…", re.sub("{(.*?)}", lambda name: SETS[name[1]][0], pattern))).replace("`", "")


def table(language):
    texts = translations(language)
    lines = [HEADS[language], "|---|---|---|---|"]
    rows = sorted(ROWS, key=lambda row: int(row[0]) or 10000)
    for number, name, words, _, cause, windows, cure in rows:
        # A page cannot show a backtick within backticks.
        shown = list(dict.fromkeys(f"`{example(one)}`" for one in words.split("|")))
        known = f"{number}, `{name}`" if number != "0" else name if language == "en" else texts.get(name, name)
        cause, windows, cure = (markdown(texts.get(text, text) if text else "") for text in (cause, windows, cure))
        cells = [known, ", ".join(shown), cause, f"{cure}. Windows: {windows}" if windows else cure]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def check_page(page, language):
    text = page.read_text()
    written = re.sub(rf"^{re.escape(HEADS[language])}\n(\|.*\n)*", lambda _: table(language), text, flags=re.M)
    if HEADS[language] not in text:
        failures.append(f"{page.name}: no table of errors")
    elif "--write" in sys.argv:
        page.write_text(written)
    elif written != text:
        failures.append(f"{page.name}: the table of errors is not current: run scripts/make-documents.sh")


def answers(text):
    """[(evidence, fix)] of a text; the evidence begins with “status” if the text has no known error"""
    done = subprocess.run([program, "doctor", "--json", "-"], input=text, capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    if done.returncode:
        return [(f"status {done.returncode}: {done.stderr}", "")]
    return [(finding["evidence"], finding["fix"]) for finding in json.loads(done.stdout)["findings"]]


def title(number, name):
    if name == "no error":
        return "status 2: "
    return f"{name} ({number}): " if number != "0" else f"{name}: "


def check_long_words():
    """A word that is full of beginnings of one pattern is read in time that grows with its length (0.3 s), and not with its square (30 s)."""
    for start in {re.split("[*~]", pattern)[0] for row in ROWS for pattern in row[2].split("|") if re.match(r"[\w.-]+[*~].", pattern)}:
        try:
            subprocess.run([program, "doctor", "-"], input=start * (240000 // len(start)), capture_output=True, text=True, check=False, timeout=20)
        except subprocess.TimeoutExpired:
            failures.append(f"a long word ({start}{start}…) is not read in 20 seconds")


def check_others():
    for text in OTHERS:
        said, _ = answers(f"RuntimeError: {text.replace('*', 'invalid')} device function")[0]
        if not said.startswith("status 2: "):
            failures.append(f"“{text}”, which is not of NVIDIA: “{said}”")


def check_rows():
    for number, name, words, _, cause, windows, cure in ROWS:
        for text in (text for pattern in words.split("|") for text in texts_of(pattern)):
            [(said, fix), *more] = answers(f"File main.py, line 3\nRuntimeError: {text}\n")
            if not said.startswith(title(number, name)) or fix not in (cure, windows) and len(text) > 9 or more:
                failures.append(f"“{text}”: “{said}”, not of the row {name}; {more}")
        [(_, fix), *_] = answers(f'File "C:\\app\\main.py", line 3\nRuntimeError: {text}\n')
        if fix != (windows or cure) or re.search("LD_LIBRARY_PATH|sudo (ldconfig|modprobe|nvidia-(smi|modprobe))", fix):
            failures.append(f"“{text}” on Windows: “{fix}”")
        if number != "0":
            for text in (name, f"CUDA error {number}", f"cuda runtime error ({number}) : …", number):
                said, _ = answers(text)[0]
                if not said.startswith(title(number, name)):
                    failures.append(f"“{text}”: “{said}”, not of the row {name}")


def check_texts():
    blocks = re.split(r"^==== ", (ROOT / "tests/data/error-texts.txt").read_text(), flags=re.M)[1:]
    for block in blocks:
        heads, text = re.match(r"((?:.*\n)(?:==\+ .*\n)*)((?:.*\n?)*)", block).groups()
        expected = [re.match(r"(?:==\+ )?(\d+) ([^:]*): ?(.*)", head).groups() for head in heads.splitlines()]
        for given in (text, text.replace(" ", "\n", 3)):
            found = answers(given)
            for (number, name, numbers), (said, fix) in zip(expected, found):
                if not said.startswith(title(number, name)) or numbers not in said or (not fix and name != "no error"):
                    failures.append(f"“{text}”: “{said}”, not of the row {name} with “{numbers}”")
            if len(found) != len(expected):
                failures.append(f"“{text}”: {len(found)} answers, not {len(expected)}: {found[len(expected):]}")
    return len(blocks)


count = check_texts()
check_others()
check_rows()
check_long_words()
check_page(ROOT / "docs/troubleshooting.md", "en")
for page in sorted((ROOT / "docs").glob("??/troubleshooting.md")):
    check_page(page, page.parent.name)
print("\n".join(failures) or f"{len(ROWS)} errors, {count} texts")
sys.exit(bool(failures))
