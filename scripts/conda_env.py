#!/usr/bin/env python3
"""conda_env.py CHANNEL PREFIX [SPEC]   makes PREFIX a conda environment of what SPEC asks of the folder CHANNEL, or an empty one

CHANNEL has the packages below linux-64; a client's own solver and installer (py-rattler) read it. Used by try-conda.sh.
"""
import asyncio
import os
import pathlib
import sys

import rattler
import rattler.index


async def main(channel, prefix, *specs):
    channel = pathlib.Path(channel).resolve()
    await rattler.index.index_fs(channel)
    found = [rattler.GenericVirtualPackage(rattler.PackageName("__glibc"), rattler.Version("2.17"), rattler.BuildString("0"))]
    records = await rattler.solve([channel.as_uri()], list(specs), platforms=["linux-64", "noarch"], virtual_packages=found) if specs else []
    await rattler.install(records, target_prefix=prefix, cache_dir=channel / "cache", show_progress=False)
    print(" ".join(f"{record.name.normalized}={record.version}" for record in records) or "empty")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
    sys.stdout.flush()
    os._exit(0)  # its threads may crash an interpreter that ends
