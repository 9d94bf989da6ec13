# Files that another process shortens while they are read, and files that claim to be endless, end in one line that names the file
is_wine && skip "Windows lets nobody shorten a mapped file"
is_emulated && skip "an emulator has the signals for itself"
gpu=(--target sm_86 --driver 550.163.01)
cat >"$work/cut.py" <<'P'
import os, signal, struct, subprocess, sys, time, zlib
name, count, *command = sys.argv[1:]
pack = zlib.compressobj(9, zlib.DEFLATED, -15)
chunk = pack.compress(bytes(1 << 20)) + pack.flush(zlib.Z_FULL_FLUSH)
head = b"\x7fELF\x02\x01\x01" + bytes(57)
pack = zlib.compressobj(9, zlib.DEFLATED, -15)
body = pack.compress(head) + pack.flush(zlib.Z_FULL_FLUSH) + chunk * 4000
size = 64 + (4000 << 20)
for at in range(int(count)):
    with open("%d-%s" % (at, name), "wb") as file:
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(body), min(size, 2**32 - 1), 8, 0)
        local = b"PK\3\4" + fields + b"a/lib.so"
        file.write(local + body)
        directory = b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"a/lib.so"
        file.write(directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(directory), len(local + body), 0))
process = subprocess.Popen(command)
while name not in open("/proc/%d/maps" % process.pid).read():
    if process.poll() is not None:
        sys.exit("ended before it was cut")
    time.sleep(0.001)
process.send_signal(signal.SIGSTOP)
for at in range(int(count)):
    os.truncate("%d-%s" % (at, name), 8192)
process.send_signal(signal.SIGCONT)
sys.exit(process.wait() & 255)
P
cut() { # cut WHEELS COMMAND…
	local count=$1 ended=0
	shift
	last=("$@")
	# shellcheck disable=SC2086
	(cd "$work" && exec python3 cut.py some.whl "$count" $JITWARM "$@") >"$out" 2>"$err" || ended=$?
	[[ $ended == 3 ]] || fail "status $ended: $(cat "$err")"
	err_one_line
	err_has "some.whl: cannot be read to its end: "
}
cut 1 scan "${gpu[@]}" 0-some.whl
cut 1 scan "${gpu[@]}" --json 0-some.whl
json 'd["schema"] == "jitwarm.error/1"'
cut 3 check "${gpu[@]}" 0-some.whl 1-some.whl 2-some.whl

# Sparse files, which cost nothing to make
printf '.version 7.0\n.target sm_80\n.address_size 64\n' >"$work/big.ptx"
printf '\x50\xed\x55\xba\x01\x00\x10\x00' >"$work/big.fatbin"
printf 'PK\3\4' >"$work/big.whl"
for kind in ptx fatbin whl; do
	truncate -s 1T "$work/big.$kind" || skip "no sparse files here"
	limit=20 run 3 scan "${gpu[@]}" "$work/big.$kind"
	err_one_line
	err_has "$work/big.$kind: larger than 64 GiB, the most that jitwarm reads"
done
truncate -s 257M "$work/big.ptx"
limit=20 snapshot run 3 check "${gpu[@]}" "$work/big.ptx"

# Who writes through a mapping leaves the file's times as they are, so jitwarm remembers what was in it. prime notices the change, and then forgets.
with_simdriver sm_86
printf '.version 6.0\n.target sm_50\n.address_size 64\n.visible .entry one(){ret;}\n//%4000s\n' . >mapped.ptx
cat >change.py <<'P'
import mmap, sys
file = open("mapped.ptx", "r+b")
data = mmap.mmap(file.fileno(), 0)
data[0] = data[0] # from now on the page is dirty
print("mapped", flush=True)
sys.stdin.readline()
at = data.find(b"entry one")
data[at + 6 : at + 9] = b"two"
print("changed", flush=True)
P
mkfifo go
python3 -B change.py <go >said &
exec 9>go
await grep -q mapped said
sleep 3 # a file that was written in the last two seconds is not remembered
run 0 prime --quiet mapped.ptx
echo >&9
await grep -q changed said
differs_for ACCOUNT snapshot run '0|1' prime --quiet --cache "$work/other" mapped.ptx
run 0 prime --quiet --cache "$work/other" mapped.ptx
run 0 check --cache "$work/other" mapped.ptx
exec 9>&-
