#!/usr/bin/env python3
"""make-conda.py ARCHIVE VERSION WORK FOLDER   builds packaging/manifests/conda's recipe in WORK, tests the package, and puts it into FOLDER

It needs rattler-build's library (py-rattler-build). Prints the package's path last.
"""
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import rattler_build

ROOT = pathlib.Path(__file__).resolve().parent.parent


def repacked(data, time):
    """A part of the package without what names folders or times of this machine: the recipe as it was built, the channel, the clock."""
    plain = subprocess.run(["zstd", "-qdc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    made = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(plain)) as old, tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            if member.name.startswith("info/recipe"):
                continue
            body = old.extractfile(member).read() if member.isreg() else b""
            if member.name == "info/about.json":
                body = json.dumps({**json.loads(body), "channels": []}, indent=2).encode()
            elif member.name == "info/index.json":
                body = json.dumps({**json.loads(body), "timestamp": time * 1000}, indent=2).encode()
            member.size, member.mtime, member.uid, member.gid, member.uname, member.gname = len(body), time, 0, 0, "", ""
            new.addfile(member, io.BytesIO(body) if member.isreg() else None)
    return subprocess.run(["zstd", "-q", "-19", "-T1", "-c"], input=made.getvalue(), stdout=subprocess.PIPE, check=True).stdout


def settle(package):
    """The same archive gives the same bytes in any folder."""
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    with zipfile.ZipFile(package) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(package, "w") as new:
        for name, data in members.items():
            new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), repacked(data, time) if name.endswith(".tar.zst") else data)


def main(archive, version, work, folder):
    work, folder = pathlib.Path(work), pathlib.Path(folder)
    (work / "recipe").mkdir(parents=True)
    (work / "channel").mkdir()
    with open(work / "recipe/recipe.yaml", "w") as recipe:
        subprocess.run([sys.executable, ROOT / "scripts/make-manifests.py", "recipe", archive, version], stdout=recipe, check=True)
    # The channel is empty: nothing is fetched, and the package needs only the system's glibc.
    (work / "channel/noarch").mkdir()
    (work / "channel/noarch/repodata.json").write_text('{"packages": {}, "packages.conda": {}}\n')
    recipe = rattler_build.Stage0Recipe.from_file(work / "recipe/recipe.yaml")
    built = recipe.run_build(output_dir=work / "built", channels=[(work / "channel").resolve().as_uri()], no_build_id=True,
                             package_format="conda", tool_config=rattler_build.ToolConfiguration(test_strategy="skip"))
    package = pathlib.Path(built[0].packages[0])
    settle(package)
    failed = [result for result in rattler_build.Package.from_file(package).run_tests(channel=[(work / "channel").resolve().as_uri()]) if not result.success]
    for result in failed:
        print(*result.output, sep="\n", file=sys.stderr)
    if failed:
        return 1
    place = folder / package.name
    shutil.copy(package, place)
    print(f"package: {place} ({os.stat(place).st_size} bytes)")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
