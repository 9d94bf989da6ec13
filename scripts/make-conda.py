#!/usr/bin/env python3
"""make-conda.py WORK FOLDER   builds packaging/conda/recipe.yaml in WORK, tests the package, and puts it into FOLDER

JITWARM_VERSION and JITWARM_ARCHIVE say of what. It needs rattler-build's library (py-rattler-build). Prints the package's path last.
"""
import os
import pathlib
import shutil
import sys

import rattler_build

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(work, folder):
    work, folder = pathlib.Path(work), pathlib.Path(folder)
    (work / "recipe").mkdir(parents=True)
    (work / "channel").mkdir()
    shutil.copy(ROOT / "packaging/conda/recipe.yaml", work / "recipe")
    # An empty channel: nothing is fetched, and the package needs nothing but the system's glibc
    (work / "channel/noarch").mkdir()
    (work / "channel/noarch/repodata.json").write_text('{"packages": {}, "packages.conda": {}}\n')
    recipe = rattler_build.Stage0Recipe.from_file(work / "recipe/recipe.yaml")
    built = recipe.run_build(output_dir=work / "built", channels=[(work / "channel").resolve().as_uri()], no_build_id=True,
                             package_format="conda", tool_config=rattler_build.ToolConfiguration(test_strategy="skip"))
    package = pathlib.Path(built[0].packages[0])
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
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
