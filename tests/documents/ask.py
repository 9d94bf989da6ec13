"""ask.py: answers about JSON documents, for ask of keep.sh. Each question is a folder, a file seen from there and a Python
expression about the document `d` in it, each with a zero behind it; the answer is one line."""
import json, os, sys

posix = lambda path: path.replace("\\", "/")
given = b""
while part := os.read(0, 1 << 16):
    given += part
    if given.count(b"\0") < 3:
        continue
    folder, name, expression = given.decode().split("\0")[:3]
    given = b""
    try:
        os.chdir(folder)
        with open(name, encoding="utf-8") as file:
            answer = str(eval(expression, {"d": json.load(file), "json": json, "posix": posix, "sys": sys}))
    except Exception as error:
        answer = repr(error)
    os.write(1, answer.replace("\n", " ").encode(errors="replace") + b"\n")
