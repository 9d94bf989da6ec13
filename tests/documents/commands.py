#!/usr/bin/env python3
"""commands.py BUILD   runs the commands of README.md's and docs/*.md's blocks, page by page, each page in a new home beside the simulated
driver. The packages that pages name are made here, with the sample framework's library. A command ends with 0 or, where it finds
something cold, with 1. What another test runs, or what needs a network or NVIDIA's compilers, is named below with the reason:
a line of that list that fits no command fails, as a command does that is not run for no reason."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Page, pattern of the command, reason
ELSEWHERE = [
    ("fleets.md", "", "share-fleets and share-slurm run this page"),
    ("share.md", "oci://", "share-fleets and share-registry run these with a registry"),
    ("docker.md", "compiler fetch", "needs the package index; elsewhere-* run it"),
    ("docker.md", "prime --target", "needs NVIDIA's ptxas; share-fleets runs this very command"),
    ("elsewhere.md", "", "needs NVIDIA's ptxas; elsewhere-* run these"),
    ("nvrtc.md", "", "needs NVIDIA's NVRTC; nvrtc-* run these"),
    ("bake.md", "bake -o DIR xgboost", "needs XGBoost; the tests of bake run it"),
    ("installers.md", "startup enable --service", "writes units of the machine; cli-startup-units runs it"),
]


def commands(page):
    """The lines of a page's blocks that begin with jitwarm, in order."""
    lines = re.findall(r"^(?: {4,8}|\$ | +\$ )(jitwarm(?: .*)?)$", page.read_text(), re.M)
    return [re.split(r"\s+#\s", line)[0].strip() for line in lines]


class Machine:
    """A new account: a home, a virtual environment with the packages that pages name, and a folder to work in."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.here = folder / "work"
        site = folder / "venv/lib/python3.11/site-packages"
        for path in (self.home, self.here / "dist", folder / "bin", site, folder / "venv/bin"):
            path.mkdir(parents=True)
        (folder / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        self.sample = BUILD / "tests/framework/libsample_framework.so"
        for name in ("tensorflow", "torch"):
            self.package(site, name)
        (folder / "bin/systemctl").write_text("#!/bin/sh\n")
        (folder / "bin/systemctl").chmod(0o755)
        (folder / "bin/jitwarm").symlink_to(BUILD / "src/jitwarm")
        with_driver = {"LD_LIBRARY_PATH": f"{BUILD}/tests/simdriver/lib", "SIMDRIVER_GPUS": "sm_86", "SIMDRIVER_STATE": f"{folder}/marks",
                       "JITWARM_PCI_DEVICES": "10de:2484@0000:01:00.0"}
        self.environment = {"HOME": str(self.home), "PATH": f"{folder}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "SHELL": "/bin/bash",
                            "VIRTUAL_ENV": str(folder / "venv"), "XDG_RUNTIME_DIR": str(folder), **with_driver}
        self.places = {"/nfs/jitwarm": str(folder / "nfs"), "dist/*.whl": f"dist/{self.wheel()}"}
        (folder / "nfs").mkdir()

    def package(self, site, name):
        info = site / f"{name}-2.0.dist-info"
        info.mkdir()
        (site / name).mkdir()
        shutil.copy(self.sample, site / name / "library.so")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
        (info / "RECORD").write_text(f"{name}/library.so,,\n{name}-2.0.dist-info/METADATA,,\n")

    def wheel(self):
        name = "sample-1.0-py3-none-linux_x86_64.whl"
        shutil.make_archive(str(self.here / "dist/sample"), "zip", self.sample.parent, self.sample.name)
        (self.here / "dist/sample.zip").rename(self.here / "dist" / name)
        return name

    def run(self, line):
        for written, real in self.places.items():
            line = line.replace(written, real)
        if "RWQ…" in line:
            listed = subprocess.run(["jitwarm", "key", "list"], cwd=self.here, env=self.environment, capture_output=True, text=True, check=True)
            line = line.replace("RWQ…", re.search(r"RW[A-Za-z0-9+/=]{54}", listed.stdout)[0])
        if line == "jitwarm key generate":
            line += " --no-passphrase"  # else it asks for one
        return subprocess.run(["sh", "-c", line], cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def main():
    failures, used, ran = [], set(), 0
    # Temporary folders would be a finding of doctor's.
    with tempfile.TemporaryDirectory(prefix="jitwarm-documents-", dir="/var/tmp") as top:
        for page in PAGES:
            machine = None
            for line in commands(page):
                reason = next((place for place in ELSEWHERE if place[0] == page.name and place[1] in line), None)
                used.add(reason)
                if reason:
                    continue
                machine = machine or Machine(pathlib.Path(top) / page.name)
                done = machine.run(line)
                ran += 1
                if done.returncode not in (0, 1) or (done.returncode and done.stderr.startswith("jitwarm: error")):
                    failures.append(f"{page.name}: {line}: {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}")
    failures += [f"no command fits {place[0]}: {place[1]}" for place in ELSEWHERE if place not in used]
    print("\n".join(failures) or f"{ran} commands")
    return bool(failures) or ran < 20


if __name__ == "__main__":
    sys.exit(main())
