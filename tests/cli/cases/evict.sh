# An import into a cache that is nearly full evicts no entry of others, and names the limit with which everything fits.
differs_for WINDOWS
. "$cases/../pack-entries.sh"
unset CUDA_CACHE_MAXSIZE
built="Apr  8 202512:10:18"
for number in 1 2 3 4 5 6; do pack_entry "$work/there" $number "$built" 86; done
for number in 7 8 9; do pack_entry "$work/made" $number "$built" 86; done
there=$(native "$work/there") pack=$(native "$work/a.jwpack")
run 0 export --all --cache "$(native "$work/made")" -o "$pack"
entries() { (cd "$1" && find . -path './?/?/*' -type f -printf '%P\n' | sort); }
import() { run "$1" import --allow-unsigned --as-is --cache "$there" "${@:2}" "$pack"; }
run 0 cache verify --cache "$there" --repair
# Reads which two entries the index would evict first, as names below the folder, and their size together.
read -r two < <(python3 - "$work/there/index" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
(a, size), (b, more) = struct.iter_unpack("<QQ", data[16:48])
print(size + more)
PYTHON
)
was=$(rows "$work/there") new=$(rows "$work/made")
before=$(entries "$work/there")

# The limit has space for everything.
export CUDA_CACHE_MAXSIZE=$((was + new))
import 0 --dry-run --json
json 'd["accepted"] == 3 and d["evicted"] == d["evicted_bytes"] == 0'

# The limit requires two entries to be evicted.
export CUDA_CACHE_MAXSIZE=$((was + new - two + 1))
snapshot import 1 --dry-run --json
snapshot import 1 --dry-run
snapshot import 3
[[ $(entries "$work/there") == "$before" ]] || fail "an import that was refused has written"
# With the limit that the message names, nothing is evicted.
more=$(grep -oE -- '--max-size [0-9]+' "$err" | cut -d' ' -f2)
CUDA_CACHE_MAXSIZE=$more import 0 --dry-run --json
json 'd["evicted"] == 0'

# No driver keeps more than 4 GiB, so no larger limit is advised.
if ! is_wine; then
	for number in 1 2 3 4; do
		pack_entry "$work/four" $((100 + number)) "$built" 86
	done
	python3 - "$work/four" <<'PYTHON'
import os, struct, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "r+b") as file:
            key = struct.unpack("<IQQQ", file.read(28))[1]
            value = 2**30 - 28 - key
            file.seek(12)
            file.write(struct.pack("<Q", value))
            file.truncate(28 + key + value)
PYTHON
	for limit in 4294967296 2147483648; do
		CUDA_CACHE_MAXSIZE=$limit snapshot run 3 import --allow-unsigned --as-is --cache "$work/four" "$pack"
		err_lacks "--max-size"
	done
	rm "$(find "$work/four" -path '*/?/?/*' -type f | sort | head -1)"
	CUDA_CACHE_MAXSIZE=2147483648 snapshot run 3 import --allow-unsigned --as-is --cache "$work/four" "$pack"
fi

# With enough space, the pack is imported whole, and nothing is evicted.
export CUDA_CACHE_MAXSIZE=$more
import 0
run 0 cache verify --cache "$there"
import 0
import 0 --dry-run --json
json 'd["there"] == 3 and d["evicted"] == 0'

# A file that the index does not count takes space, too.
for number in 1 2; do pack_entry "$work/there" $number "$built" 86; done
rm "$work/there/index"
export CUDA_CACHE_MAXSIZE=$(rows "$work/there")
for number in 10; do pack_entry "$work/more" $number "$built" 86; done
snapshot run 0 export --all --cache "$(native "$work/more")" -o "$pack"
import 1 --dry-run --json
json 'd["evicted"] >= 1'
snapshot import 3

# If prime's results evict entries of the driver in use, modules that were warm become cold, and prime says so; entries of a former driver
# do not count.
varies names "^cache/" # which entries the driver evicts depends on the order of the workers
with_simdriver sm_86
is_real && exit 0
unset CUDA_CACHE_MAXSIZE
cp "$sample" "$work/a.so"
run 0 prime "$work/a.so"
run 0 prime --json "$work/a.so"
size=$(rows "$work/cache") || exit 1
for number in 1 2 3 4 5 6; do printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other%d()\n{\n\tret;\n}\n' "$number" >"$work/other$number.ptx"; done
export CUDA_CACHE_MAXSIZE=$((size + 100))
run 1 prime --json "$work"/other?.ptx
json 'd["evicted"] == d["cooled"] > 0 and d["compiled"] == 6'
snapshot run 1 check "$work/a.so"
rm -r "$work/cache"
CUDA_CACHE_MAXSIZE=1000000000 run 0 prime --cache "$work/cache" "$work/a.so"
snapshot run 1 prime "$work"/other?.ptx
# The entries are another driver's.
rm -r "$work/cache"
SIMDRIVER_STAMP='Jan  1 202301:02:03' JITWARM_STATE=$work/former run 0 prime "$work/a.so"
snapshot run 0 prime --no-store --json "$work"/other?.ptx
