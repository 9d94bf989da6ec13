# cache list and cache verify report every entry and every damage of a directory whose bytes this test writes by hand.
has_command cache verify || skip "no such command yet"

# entry DIR N: makes an entry for sm_86 whose cubin is only a header, and prints its name
entry() {
	python3 - "$1" "$2" <<'PYTHON'
import os, struct, sys
def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h
dir, n = sys.argv[1], int(sys.argv[2])
key = b"Apr  8 202512:10:18HOST64sm_86// %d\0 -v " % n
value = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, 2, 190, 1, 0, 0, 0, 86, 64, 0, 0, 0, 0, 0)
name = "%016x" % fnv(key)
path = os.path.join(dir, name[0], name[1], name[2:])
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "wb") as file:
    file.write(struct.pack("<IQQQ", 0x41, len(key), len(value), fnv(value)) + key + value)
index = os.path.join(dir, "index")
old = open(index, "rb").read()[16:] if os.path.exists(index) else b""
rows = old + struct.pack("<QQ", fnv(key), len(key) + len(value))
with open(index, "wb") as file:
    file.write(struct.pack("<IIQ", 0x41, len(rows) // 16, (len(key) + len(value)) * (len(rows) // 16)) + rows)
print(name)
PYTHON
}

cache=$work/cache
first=$(entry "$cache" 1)
entry "$cache" 2 >/dev/null
dir=$(native "$cache")

run 0 cache verify --cache "$dir"
out_has "2 entries"
out_has "2 sound, 0 damaged"
err_empty
run 0 cache verify --cache "$dir" --json
json 'd["schema"] == "jitwarm.cache-verify/1"'
json '[d[k] for k in ("entries", "sound", "damaged", "rows", "rows_without_file", "files_without_row", "foreign")] == [2, 2, 0, 2, 0, 0, 0]'
json 'd["kinds"] == {"cuda": 2, "opencl": 0, "other": 0} and d["next_insert"] == "adds"'
json 'd["bytes"] > 0'
snapshot run 0 cache verify --cache "$dir" --quiet

snapshot run 0 cache list --cache "$dir"
snapshot run 0 cache list --cache "$dir" --json

# The directory has a damaged entry, a foreign file, and one row too few.
printf x >>"$cache/index.bak"
printf y | dd of="$cache/${first:0:1}/${first:1:1}/${first:2}" bs=1 seek=100 conv=notrunc status=none
run 1 cache verify --cache "$dir" --json
json 'd["damaged"] == 1 and d["sound"] == 1 and d["foreign"] == 1'
json 'd["damaged_entries"][0]["file"].replace("/", "") == "'"$first"'"'
run 1 cache verify --cache "$dir"
out_has "1 damaged"
out_has "Next: jitwarm cache verify --repair --cache $dir"

# With this index, a driver would delete everything.
rm "$cache/index"
snapshot run 1 cache verify --cache "$dir" --json

# A folder that is not a cache gives one line, and nothing is written.
run 3 cache verify --cache "$(native "$work/missing")"
err_one_line
out_empty
[[ ! -e $work/missing ]] || fail "the directory was made"
printf x >"$work/file"
snapshot run 64 cache verify --cache "$(native "$work/file")"
mkdir "$work/other"
printf x >"$work/other/readme"
snapshot run 3 cache verify --cache "$(native "$work/other")" --json
run 64 cache verify "$dir"
err_has "--cache"

# The environment names the live cache, which is empty before a driver has used it.
CUDA_CACHE_PATH=$cache snapshot run 1 cache verify
if is_wine; then # this Wine's user has one already
	run "0|1" cache verify --json
	json 'd["path"].endswith(r"\AppData\Roaming\NVIDIA\ComputeCache")'
else
	run 0 cache verify --json
	json 'd["entries"] == 0 and d["next_insert"] == "adds" and d["path"].endswith("/.nv/ComputeCache")'
	varies text . # a machine may have a cache there
	HOME='' run 0 cache list
	out_has "/.nv/ComputeCache: "
	fixed text .
	(unset HOME && snapshot run 2 cache verify && err_has HOME) || exit 1
fi
true
