# A wheel for every platform holds libraries for Linux and for Windows, and a program here loads those of this system.
with_simdriver sm_86
export CUDA_CACHE_PATH=$work/cache
empty_environment "$work/env"
export VIRTUAL_ENV=$work/env
site=$(site_of "$VIRTUAL_ENV")
dist_info "$site" both 1.0 both/libk.so both/k.dll both/k.ptx
PYTHONPATH=$cases/../../framework python3 - "$site" <<'PYTHON'
import sys
import zipfile
import fatbin

def text(name):
    return f".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry {name}()\n{{\n\tret;\n}}\n".encode()

for name in "libk.so", "k.dll":
    open(f"{sys.argv[1]}/both/{name}", "wb").write(fatbin.library(fatbin.container(fatbin.entry(fatbin.PTX, 70, text(name.replace(".", "_"))))))
open(sys.argv[1] + "/both/k.ptx", "wb").write(text("loose"))
with zipfile.ZipFile("both-1.0-py3-none-any.whl", "w") as wheel:
    for name in "both/libk.so", "both/k.dll":
        wheel.write(f"{sys.argv[1]}/{name}", name)
PYTHON
here=libk.so there=k.dll
is_wine && here=k.dll there=libk.so

# The library of the other system does not count; a file that is named does.
run 1 check --json both
json 'd["gpus"][0]["modules"] == 2'
run 0 scan --json both
json 'sorted(posix(f["path"]).rsplit("/")[-1] for f in d["files"]) == sorted(["'$here'", "k.ptx"])'
run 0 prime both
run 0 check both
run 1 check "$site/both/$there"

# A wheel is judged for both systems, on each of which a program loads one of the two.
run 0 scan --json both-1.0-py3-none-any.whl
json 'len(d["files"]) == 2 and d["totals"][0]["modules"] == 2 and d["totals"][0]["at_most"]'
