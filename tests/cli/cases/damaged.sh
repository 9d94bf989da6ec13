# Damaged entries of an unchanged length are cold for check and prime, which say that they are damaged. prime replaces them.
differs_for WINDOWS
with_simdriver sm_86
cache=$work/cache

# bend KIND: damages one entry. For `gpu` and `abi` its machine code is wrong, and its checksum right.
bend() {
	python3 - "$cache" "$1" <<'END'
import glob, struct, sys
entries = sorted(glob.glob(sys.argv[1] + "/?/?/*"))
path = next(name for name in entries if b"\0 -c" not in open(name, "rb").read())
data = bytearray(open(path, "rb").read())
at = 28 + struct.unpack_from("<Q", data, 4)[0]
if sys.argv[2] == "value": data[-8] ^= 1
elif sys.argv[2] == "key": data[60] ^= 1
elif sys.argv[2] == "checksum": data[21] ^= 1
elif sys.argv[2] == "zeros": data[:] = bytes(len(data))
else:
    if sys.argv[2] == "gpu": data[at + 48] = data[at + 50] = 75
    else: data[at + 7:at + 9] = b"\x41\x08"; struct.pack_into("<I", data, at + 48, 86 << 8)
    state = 0xcbf29ce484222325
    for byte in data[at:at + struct.unpack_from("<Q", data, 12)[0]]:
        state = (state ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    struct.pack_into("<Q", data, 20, state)
with open(path, "r+b") as file:
    file.write(data)
    file.truncate()
END
}

run 0 prime --quiet "$sample"
run 0 check --json "$sample"
json 'd["cold"] == d["damaged"] == 0 and d["warm"] > 1'
for kind in value key checksum zeros gpu abi; do
	bend "$kind"
	run 1 check --json "$sample"
	json 'd["cold"] == d["damaged"] == d["gpus"][0]["damaged"] == 1 and d["warm"] > 0'
	snapshot run 1 check "$sample"
	out_has "1 of the modules is damaged in the cache; “jitwarm prime” replaces it"
	snapshot run 1 prime -n "$sample"
	out_has "damaged entry: "
	run 1 check --json "$sample" # -n has left it there
	json 'd["damaged"] == 1'
	snapshot run 1 export --all --json -o "$work/$kind.jwpack"
	snapshot run 1 cache verify --json
	snapshot run 0 prime --no-store --json "$sample"
	run 0 check "$sample"
	out_lacks damaged
	run 0 cache verify
done
# A folder in an entry's place: an empty one is nobody's, one with files is left alone.
entry=$(find "$cache" -type f -path '*/?/?/*' | sort | head -n 1)
folder() { rm -rf "$entry" && mkdir "$entry"; }
folder
run 1 check --json "$sample"
json 'd["cold"] == d["damaged"] == 1'
run 1 cache verify
out_has "it is a folder: the driver can store no entry there"
out_has "Next: jitwarm cache verify --repair"
snapshot run "0|1" export --all --json -o "$work/folder.jwpack"
snapshot run 0 prime --no-store --quiet "$sample"
[[ -f $entry ]] || fail "prime left the folder"
folder
run 0 cache verify --repair --json
json 'd["damaged"] == 0 and d["repaired_entries"] == 1'
[[ ! -e $entry ]] || fail "the folder is still there"
run 0 prime --no-store --quiet "$sample"
snapshot run 0 export --all -o "$work/whole.jwpack"
folder
snapshot run 0 import --allow-unsigned "$work/whole.jwpack"
[[ -f $entry ]] || fail "import left the folder"
rm "$entry" && mkdir "$entry" && : >"$entry/file"
snapshot run 1 cache verify --repair
out_lacks "Next:"
snapshot run 3 prime --no-store --quiet "$sample"
[[ -e $entry/file ]] || fail "a file in the folder is gone"
rm -r "$entry"
run 0 prime --no-store --quiet "$sample"
bend gpu
run 0 cache verify --repair --json
json 'd["damaged"] == 0 and d["repaired_entries"] == 1'
run 1 check --json "$sample"
json 'd["cold"] == 1 and d["damaged"] == 0'

# jitwarm keeps no profile of this driver, since no prime has run under it.
run 0 prime --quiet --no-store "$sample"
rm -rf "$JITWARM_STATE/drivers"
bend gpu
run 1 check --json "$sample"
json 'd["damaged"] == 1'
rm -rf "$JITWARM_STATE/drivers"
snapshot run 1 cache verify
out_has "for another GPU"
run 0 cache verify --repair --json
json 'd["repaired_entries"] == 1'

# The store has the entry: nothing is compiled.
export JITWARM_STORE=1
rm -rf "$cache"
run 0 prime --json "$sample"
bend value
run 0 prime --json "$sample"
json 'd["compiled"] == 0'
run 0 cache verify

# An import replaces damaged entries.
snapshot run 0 export --all -o "$work/whole.jwpack"
for kind in gpu value; do
	bend "$kind"
	run 0 import --allow-unsigned "$work/whole.jwpack"
	run 0 cache verify
	run 0 check "$sample"
done

# A container cannot be decompressed: its users fail, and if all code is loaded at the start, the start fails.
mkdir "$work/bent"
python3 - "$sample" "$work/bent/${sample##*/}" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.find(b"\x28\xb5\x2f\xfd")
assert at > 0
data[at:at + 4] = bytes(4)
open(sys.argv[2], "wb").write(data)
END
run 0 check "$sample"
# A damaged piece of many is named by scan and lint.
run 0 check "$work/bent/${sample##*/}"
snapshot run 0 scan --target sm_86 "$work/bent/${sample##*/}"
snapshot run 1 lint --gpus sm_86 "$work/bent/${sample##*/}"

# A file that cannot be read (a pipe) is not reported as damaged
is_wine && exit 0
first=$(find "$cache"/?/?/* | sort | head -n 1)
mv "$first" "$work/kept" && mkfifo "$first"
snapshot run 1 check "$sample"
out_lacks damaged
snapshot run 1 check --json "$sample"
rm "$first" && mv "$work/kept" "$first"

# An entry that makes programs fail is not imported from a pack either. An export includes it only if no driver is at hand to recognise it;
# under Wine there is always a driver.
bend abi
JITWARM=${JITWARM##* } JITWARM_STATE=$work/elsewhere run 0 export --all -o "$work/abi.jwpack"
out_lacks damaged
rm -rf "$cache"
snapshot run "0|1" import --allow-unsigned "$work/abi.jwpack"
run 0 cache verify
