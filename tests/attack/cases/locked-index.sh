# An account that may only read root's cache can lock its index: each command that writes there ends after a few seconds with the line that
# ends the account's process
. "$cases/../lib.sh"
with_simdriver sm_86
export CUDA_CACHE_PATH=$open/cache
run 0 prime --quiet "$sample"
run 0 export --quiet -o "$open/a.jwpack"
run 0 cache clear --yes
run 0 prime --quiet "$cases/../../../ptx/sample_small.ptx"
chmod -R go+rX "$open/cache"
cat >"$open/lock.py" <<'P'
import fcntl, sys, time
with open(sys.argv[1], "rb") as index:
    fcntl.lockf(index, fcntl.LOCK_SH)
    open(sys.argv[2], "w").close()
    time.sleep(300)
P
mkdir -m 777 "$open/marks"
as_mallory /usr/bin/python3 "$open/lock.py" "$open/cache/index" "$open/marks/locked" >/dev/null 2>&1 &
await test -e "$open/marks/locked"
for command in "import --allow-unsigned $open/a.jwpack" "cache clear --yes"; do
	# shellcheck disable=SC2086
	limit=60 run '1|2|3' $command
	err_has "index: locked by python3 (process "
	err_has "or end it: “kill "
done
# If the account has locked the log of --json-log, prime waits for a while, and loses no line.
CUDA_CACHE_PATH=$open/unlocked run 0 prime --quiet "$sample" --json-log "$open/log" && chmod 644 "$open/log"
as_mallory /usr/bin/python3 "$open/lock.py" "$open/log" "$open/marks/logged" >/dev/null 2>&1 &
await test -e "$open/marks/logged"
CUDA_CACHE_PATH=$open/unlocked limit=60 run 0 prime --quiet "$sample" --json-log "$open/log"
[[ $(grep -c '^{"schema":"jitwarm.run/.*}$' "$open/log") == 2 && $(wc -l <"$open/log") == 2 ]] || fail "the log is $(cat "$open/log")"
pkill -u $mallory -f "$open/marks/logged" || fail "the account has not locked the log"
# The kernel names the process that took the lock, also after its end, when its number can become another's: the line names its child, which
# shares its descriptors.
cat >"$open/shared.py" <<'P'
import ctypes, fcntl, os, sys, time
index = open(sys.argv[1], "rb")
fcntl.lockf(index, fcntl.LOCK_SH)
if ctypes.CDLL(None).syscall(56, 0x400 | 17, 0, 0, 0, 0): # clone with CLONE_FILES | SIGCHLD, on x86_64
    os._exit(0)
with open(sys.argv[2], "w") as mark:
    mark.write(str(os.getpid()))
time.sleep(300)
P
if [[ $(uname -m) == x86_64 ]]; then
	CUDA_CACHE_PATH=$open/sharing run 0 prime --quiet "$cases/../../../ptx/sample_small.ptx"
	chmod -R go+rX "$open/sharing"
	as_mallory /usr/bin/python3 "$open/shared.py" "$open/sharing/index" "$open/marks/shared" >/dev/null 2>&1
	await test -s "$open/marks/shared"
	CUDA_CACHE_PATH=$open/sharing limit=60 run '1|2|3' import --allow-unsigned "$open/a.jwpack"
	err_has "(process $(cat "$open/marks/shared"))"
	kill "$(cat "$open/marks/shared")"
fi
# The kernel names no process for the lock of an open file.
cat >"$open/open.py" <<'P'
import fcntl, struct, sys, time
with open(sys.argv[1], "rb") as index:
    fcntl.fcntl(index, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)) # F_OFD_SETLK
    open(sys.argv[2], "w").close()
    time.sleep(300)
P
# On overlayfs, as on btrfs, the kernel's list of locks names another device than programs see.
mkdir -m 755 "$open/layer" "$open/other" "$open/overlay"
places=(other)
if mount -t tmpfs none "$open/layer" 2>/dev/null; then
	trap 'jobs -p | xargs -r kill -9 2>/dev/null; umount -l "$open/overlay" "$open/layer" 2>/dev/null; rm -rf "$open"' EXIT
	mkdir "$open/layer/upper" "$open/layer/work" "$open/lower"
	mount -t overlay none -o "lowerdir=$open/lower,upperdir=$open/layer/upper,workdir=$open/layer/work" "$open/overlay" 2>/dev/null && places+=(overlay)
fi
# An older process with such a lock of another file is not the one.
cp "$open/open.py" "$open/bystander.py" && touch "$open/bystander"
/usr/bin/python3 "$open/bystander.py" "$open/bystander" "$open/marks/bystander" >/dev/null 2>&1 &
bystander=$!
await test -e "$open/marks/bystander"
for name in "${places[@]}"; do
	folder=$open/$name
	CUDA_CACHE_PATH=$folder/cache run 0 prime --quiet "$cases/../../../ptx/sample_small.ptx"
	chmod -R go+rX "$folder/cache"
	rm -f "$open/marks/opened"
	as_mallory /usr/bin/python3 "$open/open.py" "$folder/cache/index" "$open/marks/opened" >/dev/null 2>&1 &
	await test -e "$open/marks/opened"
	CUDA_CACHE_PATH=$folder/cache limit=60 run '1|2|3' import --allow-unsigned "$open/a.jwpack"
	err_has "index: locked by python3 (process "
	err_lacks "(process $bystander)"
	(eval "$(sed -n 's/.*or end it: “\(kill [0-9]*\)”.*/\1/p' "$err" | head -n 1)") || fail "the line does not work"
	await sh -c "! pgrep -u $mallory -f $open/open.py >/dev/null"
	CUDA_CACHE_PATH=$folder/cache run 0 import --allow-unsigned "$open/a.jwpack"
done
# The kernel's text of an epoll descriptor waits while its owner takes events to memory that never arrives: root does not read it.
cat >"$open/stuck.py" <<'P'
import ctypes, fcntl, os, select, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.epoll_wait.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
page = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
ready, waiting = os.pipe(), select.epoll()
os.write(ready[1], b"x")
waiting.register(ready[0], select.EPOLLIN)
index = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(index, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)) # F_OFD_SETLK
try:
    faults = libc.syscall(323, os.O_CLOEXEC) # userfaultfd, which stands for a FUSE file system of the account
    fcntl.ioctl(faults, 0xC018AA3F, struct.pack("<QQQ", 0xAA, 0, 0))
    fcntl.ioctl(faults, 0xC020AA00, struct.pack("<QQQQ", page, 4096, 1, 0))
except OSError:
    page = None
open(sys.argv[2], "w").close()
libc.epoll_wait(waiting.fileno(), page, 1, -1)
import time
time.sleep(300)
P
/usr/bin/python3 "$open/stuck.py" "$open/other/cache/index" "$open/marks/stuck" >/dev/null 2>&1 &
stuck=$!
await test -e "$open/marks/stuck"
sleep 0.5
CUDA_CACHE_PATH=$open/other/cache $JITWARM import --allow-unsigned "$open/a.jwpack" >"$open/said" 2>&1 &
import=$!
for ((i = 0; i < 300; i++)); do
	kill -0 $import 2>/dev/null || break
	sleep 0.1
done
# Only the end of that program ends a process that waits for the text.
kill -9 $stuck
wait $import && fail "import succeeded"
((i < 300)) || fail "import waited for the account's program"
grep -q "index: locked by python3 (process $stuck)" "$open/said" || fail "import: $(<"$open/said")"
# The search for the lock's process ends, although no process has the descriptor, which is under way in a socket, and although the account has a
# million other descriptors.
cat >"$open/many.py" <<'P'
import array, fcntl, os, socket, struct, sys, time
index = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(index, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)) # F_OFD_SETLK
ends = socket.socketpair()
ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [index]))])
os.close(index)
try:
    while True:
        last = os.dup(ends[0].fileno())
except OSError:
    pass
for _ in range(50):
    if not os.fork():
        break
else:
    os.close(last)
    open(sys.argv[2], "w").close()
time.sleep(300)
P
(ulimit -n 20000 2>/dev/null; as_mallory /usr/bin/python3 "$open/many.py" "$open/other/cache/index" "$open/marks/many" >/dev/null 2>&1) &
await test -e "$open/marks/many"
CUDA_CACHE_PATH=$open/other/cache limit=60 run '1|2|3' import --allow-unsigned "$open/a.jwpack"
err_has "index: locked by another process"
pkill -9 -u $mallory -f "$open/many.py"
# Root in a container does not see the account's process.
if unshare -pf --mount-proc true 2>/dev/null; then
	(JITWARM="unshare -pf --mount-proc $JITWARM" limit=60 run '1|2|3' import --allow-unsigned "$open/a.jwpack" &&
		err_has "locked by another process for" && err_has "it may be another account's, or run in a container or on another machine") || exit 1
fi
limit=60 run '1|3' prime "$sample"
err_has "or end it: “kill "
(eval "$(sed -n 's/.*or end it: “\(kill [0-9]*\)”.*/\1/p' "$err" | head -n 1)") || fail "the line does not work"
await sh -c "! pgrep -u $mallory -f $open/lock.py >/dev/null"
run 0 import --allow-unsigned "$open/a.jwpack"

# An account that reads root's cache and state can lock none of jitwarm's own locks, also not those that an older build left: a lock is
# readable only for accounts that may write to it.
umask 022
export JITWARM_STATE=$open/state JITWARM_STORE=1
mkdir -m 755 "$JITWARM_STATE"
run 0 cache clear --yes
run 0 prime --quiet "$sample"
mapfile -t locks < <(find "$JITWARM_STATE" -name '*lock')
((${#locks[@]} > 2)) || fail "few locks: ${locks[*]}"
for lock in "${locks[@]}"; do [[ $(stat -c %a "$lock") == 600 ]] || fail "$lock has mode $(stat -c %a "$lock")"; done
chmod 644 "$JITWARM_STATE/store/lock"
run 0 cache clear --yes
run 0 prime --quiet "$sample"
[[ $(stat -c %a "$JITWARM_STATE/store/lock") == 600 ]] || fail "the store's lock keeps its mode"
# Root opens no lock that the account made while it could, so that it does not wait for it; without these locks it remembers nothing, and says so.
for name in state-lock ledger-lock store/lock; do
	chown $mallory "$JITWARM_STATE/$name" && chmod 666 "$JITWARM_STATE/$name"
	if [[ $name != store/lock ]]; then
		for command in status "prime $sample"; do
			# shellcheck disable=SC2086
			run '0|1' $command
			err_has "$JITWARM_STATE/$name: belongs to another account, and root does not write to it: delete that file); jitwarm remembers nothing of this run"
			[[ $(grep -c "remembers nothing" "$err") == 1 ]] || fail "not said once"
		done
		run '0|1' doctor --no-probe --json "$sample"
		json "['$name: belongs' in f['evidence'] and 'and its files this' in f['fix'] for f in d['findings'] if f['id'] == 'state-unwritable'] == [True]"
	fi
	run 0 cache clear --yes
	run 0 prime --quiet "$sample"
	[[ $(stat -c '%u %a' "$JITWARM_STATE/$name") == "$mallory 666" ]] || fail "$name was changed"
	chown 0 "$JITWARM_STATE/$name"
done
run 0 cache clear --yes
touch "$open/gate" "$open/cache/.jitwarm-lock"
SIMDRIVER_FAULT=wait:.version SIMDRIVER_GATE=$open/gate $JITWARM prime --quiet --no-store "$sample" &
await sh -c "test \$(stat -c %a '$open/cache/.jitwarm-lock') = 600"
rm "$open/gate"
wait $! || fail "prime ended with $?"
