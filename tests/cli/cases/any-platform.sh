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
differs_for WINDOWS snapshot run 0 prime both
run 0 check both
run 1 check "$site/both/$there"

# Nor does it in a wheel for every system, except for lint, which packagers run. In a wheel for one system, everything counts.
for name in libk.so k.so; do
	mv both-1.0-py3-none-any.whl whole.whl
	python3 -c 'import sys, zipfile
old, new = zipfile.ZipFile("whole.whl"), zipfile.ZipFile("both-1.0-py3-none-any.whl", "w")
for name in old.namelist():
    new.writestr(name.replace("libk.so", sys.argv[1]), old.read(name))
new.close()' $name
	run 0 scan --json both-1.0-py3-none-any.whl
	json 'posix(d["files"][0]["member"]) == "both/'"${here/libk.so/$name}"'" and len(d["files"]) == 1 and d["totals"][0]["modules"] == 1 and not d["totals"][0]["at_most"]'
	run 0 check --json both-1.0-py3-none-any.whl # primed above
	json 'd["modules"] == 1'
done
snapshot run "0|1" lint --gpus sm_86 both-1.0-py3-none-any.whl
cp both-1.0-py3-none-any.whl both-1.0-py3-none-linux_x86_64.whl
run 0 scan --json both-1.0-py3-none-linux_x86_64.whl
json 'len(d["files"]) == 2'
