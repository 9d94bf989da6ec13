#!/usr/bin/env python3
"""repeated-sentences.py [WORDS]   lists sentences of WORDS or more words (10) that occur in two pages; exit status 1 if there are any

Pages are README.md, CONTRIBUTING.md, SECURITY.md and the English ones of docs/ that are written by hand. A cell of a table and an item of a
list count like a paragraph; blocks of code do not count.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sentences(text):
    text = re.sub(r"^ *```.*?^ *```|<!--.*?-->", "", text, flags=re.S | re.M)
    text = re.sub(r"\]\([^)\s]*\)|[\[`*]", "", text)
    for part in re.split(r"\n\s*\n|\n\s*(?:[-#]+|\d+\.) |\||\n    ", text):
        for sentence in re.split(r"(?<=[.:;?!])\s+(?=\S)", " ".join(part.split())):
            yield re.sub(r"[.:;?!,]$", "", sentence)


def main():
    least = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    pages += [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name not in ("ko", "reference") and page.name != "driver-behaviour.md"]
    where = {}
    for page in pages:
        for sentence in sentences(page.read_text(encoding="utf-8")):
            if len(sentence.split()) >= least:
                where.setdefault(sentence.lower(), {})[str(page.relative_to(ROOT))] = sentence
    repeated = {sentence: found for sentence, found in where.items() if len(found) > 1}
    for found in repeated.values():
        print(f"{', '.join(found)}: {next(iter(found.values()))}")
    return bool(repeated) or len(where) < 500


if __name__ == "__main__":
    sys.exit(main())
