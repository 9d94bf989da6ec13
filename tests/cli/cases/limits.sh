# The shell limits files and stacks, paths are longer than the system allows, and file systems are endless: jitwarm works, or prints a line.
is_wine && skip "Windows has neither these limits nor /proc"
gpu=(--target sm_86 --driver 550.163.01)
with_simdriver sm_86
run 0 --version
grep -q address "$out" && sanitized=1 || sanitized=

# A file may not grow: the state is not kept, and an index that could not be written is an error, not a death by signal.
(ulimit -f 0 && exec $JITWARM scan "${gpu[@]}" "$sample") | cat >"$work/scanned"
[[ ${PIPESTATUS[0]} == 0 ]] || fail "scan with ulimit -f 0"
grep -q "to compile" "$work/scanned" || fail "scan with ulimit -f 0 says nothing"
python3 - "$work/cache" <<'END'
import os, struct, sys
for number in range(100):
    key = b"Jan  1 200000:00:00HOST64sm_86// %d\0 " % number
    name = checksum = 0xcbf29ce484222325
    for byte in key: name = (name ^ byte) * 0x100000001b3 % 2**64
    for byte in b"value": checksum = (checksum ^ byte) * 0x100000001b3 % 2**64
    name = "%016x" % name
    path = os.path.join(sys.argv[1], name[0], name[1], name[2:])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "wb").write(struct.pack("<IQQQ", 0x41, len(key), 5, checksum) + key + b"value")
END
(ulimit -f 1 && snapshot run 3 cache verify --repair --cache "$work/cache") || exit 1
err_one_line
err_has "index: "
[[ $(find "$work/cache" -path '*/?/?/*' | wc -l) == 100 ]] || fail "entries are gone"
run 0 cache verify --repair --cache "$work/cache"
out_has "rows added: "
# On a slow machine, jitwarm first released the lock before the limit, so that some rows were there.
run 0 cache verify --json --cache "$work/cache"
json '(d["sound"], d["rows"], d["files_without_row"]) == (100, 100, 0)'

# A stack of 64 KiB is too small, but jitwarm raises a soft limit itself.
if [[ ! $sanitized ]]; then
	(ulimit -S -s 64 && run 0 scan "${gpu[@]}" "$sample") || exit 1
	(ulimit -s 300 && run 0 scan "${gpu[@]}" "$sample") || exit 1
	(ulimit -s 64 && snapshot run 3 scan "${gpu[@]}" "$sample") || exit 1
	err_one_line
	err_has "set 256 KiB or more (ulimit -s)"
fi

# A wheel has many loose cubins, as flashinfer's has 16,000: jitwarm keeps neither the pages of their headers nor anything else of them in
# memory.
[[ $sanitized ]] || python3 - "$cases/../../framework" "$work/cubins.whl" $JITWARM <<-'P' || fail "a wheel of 3,000 cubins"
	import json, resource, subprocess, sys, zipfile
	sys.path.insert(0, sys.argv[1])
	import fatbin
	cubin = fatbin.old_cubin(86, "k", 64)
	with zipfile.ZipFile(sys.argv[2], "w") as wheel:
	    for i in range(3000):
	        wheel.writestr("cubins/%d.cubin" % i, cubin + i.to_bytes(4, "little") + bytes(60000))
	found = json.loads(subprocess.check_output(sys.argv[3:] + ["scan", "--json", "--target", "sm_86", sys.argv[2]]))
	peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
	assert len(found["files"]) == 3000, len(found["files"])
	assert peak < 100, "%d MiB" % peak
P
rm -f "$work/cubins.whl"

# A text is held once.
[[ $sanitized ]] || python3 - "$work/large.ptx" $JITWARM <<'P' || fail "large PTX"
import json, resource, subprocess, sys
with open(sys.argv[1], "w") as text:
    text.write(".version 8.0\n.target sm_80\n.address_size 64\n")
    for i in range(700000):
        text.write(".visible .entry k%d(.param .u64 p)\n{\n\t.reg .b64 %%rd<4>;\n\tld.param.u64 %%rd1, [p];\n\tret;\n}\n" % i)
found = json.loads(subprocess.check_output(sys.argv[2:] + ["scan", "--json", "--target", "sm_86", sys.argv[1]]))
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
assert [t["modules"] for t in found["totals"]] == [1], found["totals"]
assert peak < 100, "%d MiB" % peak
P
rm -f "$work/large.ptx"

# /dev has a symlink into one of the kernel's own file systems.
varies text . # /dev/shm may hold anything, for a moment
snapshot run "0|1|2|3" scan "${gpu[@]}" /dev/
fixed text .
snapshot run 3 scan "${gpu[@]}" /proc/self
mkdir "$work/links"
ln -s /proc/self "$work/links/process"
cp "$sample" "$work/links"
run 0 scan --json "${gpu[@]}" "$work/links"
json 'len(d["files"]) == 1'

# The paths are longer than the system allows, and then the current folder has no name that is short enough.
snapshot run 3 scan "${gpu[@]}" "/$(printf 'long/%.0s' $(seq 2000))"
mkdir "$work/deep"
(
	cd "$work/deep" || exit 1
	name=$(printf '%0200d' 0)
	for _ in $(seq 25); do mkdir "$name" && cd "$name" || exit 1; done
	cp "$sample" library.so
	snapshot run 0 scan "${gpu[@]}" library.so
	snapshot run 3 cache list --cache here
) || exit 1
rm -r "$work/deep"

# The driver cannot write the larger entries, so a start still compiles these modules.
(ulimit -f 100 && CUDA_CACHE_PATH=$work/short snapshot run 1 prime "$sample") || exit 1
! grep -q "nothing left to compile" "$out" || fail "$(cat "$out")"
