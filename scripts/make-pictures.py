#!/usr/bin/env python3
"""make-pictures.py [-B BUILD-FOLDER] prime [--check]     records the README's picture, docs/pictures/prime.svg
make-pictures.py chart [--check]                       draws docs/pictures/first-start-light.svg and -dark.svg

prime runs `jitwarm check`, `jitwarm prime` and `jitwarm check` on a terminal of 64 columns, with the wheel of XGBoost 1.0.2 (scripts/get.sh
frameworks) and NVIDIA's driver 550.163.01 on the phantom GPU, and draws what the terminal shows at the end, without the remarks of `prime`.
--check writes nothing: it compares the picture's words with a recording under the simulated driver, but for times and sizes. Exit status 77:
the wheel is not here.

chart draws the bars of docs/pictures/first-start.csv, whose numbers were measured (docs/contributing/driver-behaviour.md). --check compares
the pictures with the file."""
import argparse
import csv
import fcntl
import html
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/pictures/prime.svg"
COLUMNS, ROWS = 64, 60
WHEEL = pathlib.Path.home() / ".cache/jitwarm/frameworks/xgboost-1.0.2-linux/xgboost-1.0.2-py3-none-manylinux1_x86_64.whl"
COMMANDS = (["check", "xgboost"], ["prime", "xgboost"], ["check", "xgboost"])
# The picture has “…” for these lines of `prime`.
REMARKS = r"(\d+ of \d+ modules|Predicted|Times assume|Why|The driver links)"
STYLES = {"1": "strong", "2": "faint", "32": "good", "33": "warn", "31": "bad"}
CHARACTER, LINE = 8.43, 19


def environment(scratch):
    """A home folder with the wheel in a virtual environment."""
    packages = scratch / "venv/lib/python3.8/site-packages"
    packages.mkdir(parents=True)
    (scratch / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.8.10\n")
    shutil.unpack_archive(WHEEL, packages, "zip")
    # check would name this machine's NVRTC.
    (scratch / "none").mkdir()
    for name in ("libnvrtc.so", "libnvrtc.so.11.2", "libnvrtc.so.12", "libnvrtc.so.13"):
        (scratch / "none" / name).touch()
    return {
        "CUDA_HOME": "/nonexistent", "LD_LIBRARY_PATH": str(scratch / "none"), "JITWARM_DRIVERS": str(pathlib.Path.home() / ".cache/jitwarm/drivers"),
        "PATH": "/usr/bin:/bin", "HOME": str(scratch), "VIRTUAL_ENV": str(scratch / "venv"), "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color", "SIMDRIVER_COST": "0", "JITWARM_STORE": "0",
    }


def on_terminal(command, variables):
    """What the command writes to a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    written = b""
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=variables) as process:
        os.close(slave)
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            written += data
    os.close(master)
    if process.returncode not in (0, 1):
        sys.exit(f"make-pictures.py: {command} ended with {process.returncode}:\n{written.decode(errors='replace')}")
    return written.decode()


def screen(written):
    """The terminal's lines at the end, each a list of (character, style)."""
    lines, column, style = [[]], 0, ""
    for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|.", written, re.S):
        if part == "\n":
            lines.append([])
        elif part == "\r":
            column = 0
        elif part == "\x1b[K":
            del lines[-1][column:]
        elif part.endswith("m") and part.startswith("\x1b"):
            style = STYLES.get(part[2:-1], "")
        elif part.startswith("\x1b"):
            sys.exit(f"make-pictures.py: an escape sequence that it does not know: {part!r}")
        else:
            lines[-1][column:column + 1] = [(part, style)]
            column += 1
    return lines[:-1] if not lines[-1] else lines


def record(build, simulated):
    driver = ["with-simdriver.sh"] if simulated else ["with-driver.sh", "-d", "550.163.01"]
    driver = [str(ROOT / "scripts" / driver[0]), "-B", str(build), *driver[1:], "sm_86", "--", str(build / "src/jitwarm")]
    scratch = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
    try:
        variables, shown = environment(scratch), []
        for arguments in COMMANDS:
            shown.append([(sign, "prompt") for sign in " ".join(["$ jitwarm"] + arguments)])
            lines = screen(on_terminal([*driver, *arguments], variables))
            remark = False
            for line in lines:
                text, was = "".join(sign for sign, _ in line), remark
                remark = arguments[0] == "prime" and bool(re.match(REMARKS, text) or was and text.startswith("  "))
                if not remark:
                    shown.append(line)
                elif not was:
                    shown.append([("…", "faint")])
        return shown
    finally:
        shutil.rmtree(scratch)


def runs(line):
    """(style, text) of neighbours of one style."""
    found = []
    for sign, style in line:
        if found and found[-1][0] == style:
            found[-1][1] += sign
        else:
            found.append([style, sign])
    return found


def draw(lines):
    width, height = round(COLUMNS * CHARACTER) + 32, len(lines) * LINE + 32
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>jitwarm check, jitwarm prime and jitwarm check on a terminal</title>",
        "<!-- Recorded by scripts/make-pictures.py -->",
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d6deeb;white-space:pre}"
        ".strong{font-weight:bold;fill:#fff}.faint{fill:#8b98a9}.good{fill:#7ee787}.warn{fill:#e3b341}.bad{fill:#ff7b72}"
        ".prompt{font-weight:bold;fill:#79c0ff}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
    ]
    for at, line in enumerate(lines):
        spans, column = "", 0
        for style, text in runs(line):
            kind = f' class="{style}"' if style else ""
            # The first cell has its position as a number, so that the columns of differently styled texts stay aligned in any font.
            spans += f'<tspan x="{16 + column * CHARACTER:.1f}"{kind}>{html.escape(text, quote=False)}</tspan>'
            column += len(text)
        if spans:
            parts.append(f'<text xml:space="preserve" y="{16 + LINE * at + 14}">{spans}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def words(drawn):
    """The text of a picture, without what differs between machines: times, sizes, the number of workers, and other load."""
    lines = re.findall(r"<text[^>]*>(.*)</text>", drawn)
    text = " ".join(" ".join(html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines).split())
    text = text.replace(" if nothing else runs", "")
    text = re.sub(r"[0-9.]+( (s|min))?( to [0-9.]+)? (s|min)\b( [0-9]+ s\b)?|[0-9.]+ [KMG]iB", "N", re.sub(r"with \d+ workers?", "with N workers", text))
    return re.sub(r"\s", "", text)


def make_prime(arguments):
    if not WHEEL.exists():
        print(f"skipped: no {WHEEL}; “scripts/get.sh frameworks” gets it")
        return 77
    if not arguments.check:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(draw(record(arguments.build.resolve(), False)))
        return 0
    was, now = words(PICTURE.read_text()), words(draw(record(arguments.build.resolve(), True)))
    if was != now:
        print(f"the picture says:\n{was}\n\njitwarm now says:\n{now}\n\nRun scripts/make-pictures.py prime where that is meant.")
    return int(was != now)


MEASURED = ROOT / "docs/pictures/first-start.csv"
# Colours: background, text, faint text, the bar without jitwarm, the bar after prime
COLOURS = {"light": ("#ffffff", "#1f2328", "#59636e", "#9198a1", "#1a7f37"), "dark": ("#0d1117", "#f0f6fc", "#9198a1", "#6e7681", "#3fb950")}


def draw_chart(row, colours):
    """Two bars, the longer one as wide as there is room."""
    back, text, faint, slow, fast = colours
    width, room, left = 760, 520, 150
    bars = [("without jitwarm", float(row["without_s"]), row["without_s"], slow), ("after prime", float(row["primed_s"]), row["primed_s"], fast)]
    longest = max(seconds for _, seconds, _, _ in bars)
    title = f'{row["what"]}: {row["without_s"]} s without jitwarm, {row["primed_s"]} s after jitwarm prime'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 150" width="{width}" height="150" role="img">',
        f"<title>{html.escape(title)}</title>",
        "<!-- Drawn by scripts/make-pictures.py from docs/pictures/first-start.csv -->",
        f"<style>text{{font:15px -apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:{text}}}.strong{{font-weight:600}}.faint{{font-size:13px;fill:{faint}}}</style>",
        f'<rect width="{width}" height="150" rx="8" fill="{back}"/>',
        f'<text class="strong" x="16" y="30">{html.escape(row["what"])}</text>',
    ]
    for at, (name, seconds, shown, colour) in enumerate(bars):
        y, bar = 48 + at * 34, max(seconds / longest * room, 3)
        parts += [f'<text x="{left - 12}" y="{y + 17}" text-anchor="end">{name}</text>',
                  f'<rect x="{left}" y="{y}" width="{bar:.1f}" height="24" rx="3" fill="{colour}"/>',
                  f'<text class="strong" x="{left + bar + 8:.1f}" y="{y + 17}">{shown} s</text>']
    parts.append(f'<text class="faint" x="16" y="136">driver {row["driver"]}, {row["machine"]}, {row["date"]}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def make_chart(check):
    with open(MEASURED, newline="") as file:
        row = next(csv.DictReader(file))
    status = 0
    for theme, colours in COLOURS.items():
        picture, drawn = MEASURED.with_name(f"first-start-{theme}.svg"), draw_chart(row, colours)
        if not check:
            picture.write_text(drawn)
        elif not picture.exists() or picture.read_text() != drawn:
            print(f"{picture.relative_to(ROOT)} differs from {MEASURED.name}: run scripts/make-pictures.py chart")
            status = 1
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("-B", dest="build", default=ROOT / "build/release", type=pathlib.Path)
    pictures = parser.add_subparsers(dest="picture", required=True)
    for picture in ("prime", "chart"):
        pictures.add_parser(picture).add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    return make_chart(arguments.check) if arguments.picture == "chart" else make_prime(arguments)


sys.exit(main())
