# doctor --pid examines the files that a process has: libraries that were replaced since, and a container's other files.
# shellcheck source=/dev/null
. "$cases/../doctors.sh"
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
is_wine && skip "Windows shows no other process's variables"
fresh
victim=
trap '[ -z "$victim" ] || kill "$victim"; rm -rf "$place"; [ -z "${all-}" ] || rm -rf "$all"' EXIT
gone() { kill "$1"; wait "$1" 2>/dev/null || true; victim=; }

# ---- a library that was replaced while the process runs
cp "$sample" "$place/lib.so"
python=$(PATH=/usr/bin:/bin command -v python3) || skip "no python3"
# The library is mapped as code and not executed: this build's sample may need what Python lacks.
map_it='import mmap, sys, time
file = open(sys.argv[1], "rb")
mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
open(sys.argv[2], "w").close()
time.sleep(300)'
"$python" -c "$map_it" "$place/lib.so" "$place/loaded" &
victim=$!
await test -e "$place/loaded"
run 1 doctor --json --no-probe --pid "$victim"
json 'd["process"]["replaced"] == [] and "cold" in [f["id"] for f in d["findings"]]'
cp "$sample" "$place/new.so" && mv "$place/new.so" "$place/lib.so"
snapshot run 1 doctor --no-probe --pid "$victim"
out_has "1 library was replaced since the process started ($place/lib.so)"
gone "$victim"

# ---- a process with files of its own, as in a container
unshare --mount true 2>/dev/null || exit 0
unshare --mount sleep 100 &
victim=$!
other_files() { [ "$(readlink "/proc/$victim/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]; }
await other_files
snapshot run 2 doctor --pid "$victim"
err_has "process $victim sees other files"
gone "$victim"
