#!/usr/bin/env python3
"""make-report-picture.py [-B BUILD-FOLDER] [-o FOLDER]   makes docs/pictures/report.png and report-phone.png, in headless Chromium

It primes packages with made-up modules under the simulated driver of the build (default: build/release), writes the
page of `jitwarm report`, and has Chromium (Debian: chromium) draw it: light in a window, dark on a phone. It fails where
Chromium writes an error on its console, or where the page is wider than the window, and prints the page to FOLDER/report.pdf where -o names one."""
import argparse
import pathlib
import re
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOTS = (("report.png", 900, 1000, "", ()), ("report-phone.png", 390, 1000, "cache", ("--blink-settings=preferredColorScheme=0",)))
# Made up: name, version, how many modules, the instructions of the largest
PACKAGES = (("sampleflow", "2.4.1", 24, 9000), ("sample-vision", "0.19.0", 9, 2500), ("othertorch", "1.7.1", 40, 6000))
MOST_BYTES = 200_000


def jitwarm(build, variables, *arguments):
    result = subprocess.run([str(build / "src/jitwarm"), *arguments], env=variables, capture_output=True, text=True)
    if result.returncode not in (0, 1):
        sys.exit(f"make-report-picture.py: jitwarm {' '.join(arguments)} ended with {result.returncode}: {result.stderr}")


def page(build, scratch):
    packages = scratch / "venv/lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    (scratch / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.0\n")
    for name, version, modules, most in PACKAGES:
        folder = packages / name.replace("-", "_")
        folder.mkdir()
        for number in range(modules):
            body = "".join(f"\tadd.u32 %r1, %r1, {number * 7919 + line};\n" for line in range(most // (number + 1)))
            (folder / f"kernels_{number:02d}.ptx").write_text(
                ".version 7.0\n.target sm_70\n.address_size 64\n"
                f".visible .entry {folder.name}_{number}()\n{{\n\t.reg .u32 %r<2>;\n\tmov.u32 %r1, 0;\n{body}\tret;\n}}\n")
        info = packages / f"{folder.name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "RECORD").write_text("".join(f"{folder.name}/kernels_{number:02d}.ptx,,\n" for number in range(modules)))
    shutil.copytree(build / "tests/simdriver/lib", scratch / "simdriver", symlinks=True)
    variables = {
        "PATH": "/usr/bin:/bin", "HOME": str(scratch), "VIRTUAL_ENV": str(scratch / "venv"), "LC_ALL": "C.UTF-8", "TZ": "UTC",
        "LD_LIBRARY_PATH": str(scratch / "simdriver"), "SIMDRIVER_GPUS": "sm_75,sm_86", "SIMDRIVER_COST": "8,busy", "CUDA_CACHE_MAXSIZE": "12582912",
        "JITWARM_PCI_DEVICES": "10de:1e84@0000:01:00.0,10de:2484@0000:02:00.0", "JITWARM_STORE": "0",
    }
    jitwarm(build, variables, "prime", "-j", "4", "sampleflow")
    jitwarm(build, variables, "prime", "-j", "4", "sample-vision")
    jitwarm(build, variables, "report", "-o", str(scratch / "report.html"))
    text = (scratch / "report.html").read_text()
    (scratch / "report.html").write_text(text.replace(str(scratch), "/home/admin"))
    return scratch / "report.html"


def chromium(scratch, *arguments):
    # As root in a container there is no sandbox; the page is our own.
    result = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr",
         f"--user-data-dir={scratch / 'profile'}", *arguments],
        capture_output=True, text=True, timeout=120, env={"PATH": "/usr/bin:/bin", "HOME": str(scratch), "LC_ALL": "C.UTF-8", "TZ": "UTC"})
    said = [line for line in result.stderr.splitlines() if ":CONSOLE" in line or "Content Security Policy" in line]
    if result.returncode or said:
        sys.exit(f"make-report-picture.py: Chromium ended with {result.returncode} and said: {said or result.stderr[-2000:]}")
    return result.stdout


def check_width(scratch, html, width, settings):
    """The page itself has no script, and forbids any: a copy of it may have one, which says how wide it is."""
    probe = scratch / "width.html"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    assert text != html, "the page has no policy"
    # In a frame: a window is never narrower than 500 pixels
    frame = scratch / "frame.html"
    frame.write_text(text.replace("</body>", "<script>parent.postMessage(document.documentElement.scrollWidth, '*')</script></body>"))
    probe.write_text(f"<!DOCTYPE html><body><script>onmessage = said => document.title = 'wide ' + said.data</script>"
                     f"<iframe src='frame.html' style='border:0' width='{width}' height='800'></iframe>")
    said = re.search(r"<title>wide (\d+)", chromium(scratch, *settings, "--allow-file-access-from-files", "--virtual-time-budget=5000", "--dump-dom", probe.as_uri()))
    if not said or int(said.group(1)) > width:
        sys.exit(f"make-report-picture.py: at {width} pixels the page is {said.group(1) if said else 'not'} wide")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-B", dest="build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("-o", dest="folder", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("chromium"):
        sys.exit("make-report-picture.py: no chromium here: apt-get install chromium")
    scratch = pathlib.Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    try:
        html = page(arguments.build.resolve(), scratch)
        folder = arguments.folder or ROOT / "docs/pictures"
        folder.mkdir(exist_ok=True, parents=True)
        for name, width, height, place, settings in SHOTS:
            shown = scratch / name.replace("png", "html")
            text = html.read_text()
            if place:  # Chromium draws no part of a page: what is above is left out
                text = text[:text.index('<h2 id="machine"')] + text[text.index(f'<h2 id="{place}"'):]
            shown.write_text(text)
            check_width(scratch, html.read_text(), width, settings)
            chromium(scratch, *settings, f"--window-size={width},{height}", f"--screenshot={folder / name}", shown.as_uri())
            if shutil.which("pngquant"):
                subprocess.run(["pngquant", "--force", "--output", folder / name, "64", folder / name], check=True)
            data = (folder / name).read_bytes()
            if struct.unpack(">I", data[16:20])[0] != width or len(data) > MOST_BYTES:
                sys.exit(f"make-report-picture.py: {name}: {struct.unpack('>II', data[16:24])}, {len(data)} bytes")
        if arguments.folder:
            chromium(scratch, f"--print-to-pdf={folder / 'report.pdf'}", "--no-pdf-header-footer", html.as_uri())
    finally:
        shutil.rmtree(scratch)
    return 0


sys.exit(main())
