# doctor --pid of a process whose libraries were replaced, and of one with other files: nothing there is run, and no command is named
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
# As code, and not run: this build's sample may need what Python has not.
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
run 1 doctor --no-probe --pid "$victim"
out_has "1 library was replaced or removed since it started ($place/lib.so)"
out_lacks "All is well"
gone "$victim"

# ---- a process with files of its own: a container
! is_emulated || exit 0 # its threads share what setns() wants alone
all=$(folder_for_all) || exit 0
unshare --mount true 2>/dev/null || exit 0
cp "$sample" "$all/hidden.so"
export marker=$place/inside
rm -f "$marker"
# In its files, another program has jitwarm's own path.
mkdir "$all/mnt"
(cd / && HOME=$all/mnt exec env -u CUDA_CACHE_PATH unshare --mount bash -c '
	mount -t tmpfs none "$0/mnt" && cp "$0/hidden.so" "$0/mnt/inside.so" || exit 1
	printf "#!/bin/sh\ntouch %q\n" "$marker" >"$0/mnt/program" && chmod 755 "$0/mnt/program"
	mount --bind "$0/mnt/program" "$2"
	exec "$1" -c "$3" "$0/mnt/inside.so" "$0/ready"' \
	"$all" "$python" "${program##* }" "$map_it") >/dev/null 2>&1 &
victim=$!
await test -e "$all/ready"
run 1 doctor --json --pid "$victim"
json '"cold" in [f["id"] for f in d["findings"]] and d["probe"] == "not asked" and "before" not in d'
json 'f"{d}".count("inside.so") and d["cold"] > 0 and not any(f["command"] for f in d["findings"])'
run 1 doctor --pid "$victim"
out_has "mnt/inside.so"
run 3 doctor --no-probe "$all/mnt/inside.so" # there is no such file outside
err_has "inside.so"
run 2 doctor --fix --pid "$victim"
err_has "run jitwarm there"
run 1 doctor --json --no-probe --pid "$victim"
[ ! -e "$marker" ] || fail "a program of the container was run"
gone "$victim"

# ---- mounts that an account has made, which has called itself root: a command of root's is not to run what lies there, and
# accounts have no names there (a pipe without a writer). Of two GPUs it was given both, and chose one.
JITWARM=$program
with_simdriver sm_75,sm_86
export CUDA_CACHE_PATH=$place/cache
all_unshare="setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urm"
$all_unshare true 2>/dev/null || exit 0
mkfifo "$all/pipe" && chmod 666 "$all/pipe"
chmod 777 "$all" && rm -f "$all/ready"
# shellcheck disable=SC2086
(cd / && HOME=$all/mnt NVIDIA_VISIBLE_DEVICES=1,0 CUDA_VISIBLE_DEVICES=1 exec $all_unshare bash -c '
	mount --bind "$0/pipe" /etc/passwd && mount --bind "$0/pipe" /etc/group || exit 1
	exec "$1" -c "$2" "$0/hidden.so" "$0/ready"' \
	"$all" "$python" "$map_it") >/dev/null 2>&1 &
victim=$!
await test -e "$all/ready"
run 2 doctor --json --pid "$victim"
json '"before" not in d and "cold" in [f["id"] for f in d["findings"]] and not any(f["command"] for f in d["findings"]) and d["cold"] == 8'
run 2 doctor --pid "$victim"
out_has "run jitwarm there"
out_lacks nsenter
out_lacks "jitwarm prime $all"
run 0 watch --for 500ms "$victim"
out_has "was watched for"
out_lacks nsenter
err_lacks nsenter
gone "$victim"
