# shellcheck shell=bash
# Sourced by every case: root, and an account that attacks it. $open is a folder that both get into, $home the account's own in it,
# $treasure root's, with files that the account may read at most.
#
#   as_mallory COMMAND…   with that account's rights
#   untouched             nothing in $treasure has changed: content, owner, mode, names

((EUID == 0)) || skip "attacks on root need root"
# shellcheck source=tests/accounts.sh
. "$cases/../../accounts.sh"
open=$(folder_for_all) || skip "this root cannot act as another account, or no folder is open to it"
trap 'jobs -p | xargs -r kill -9 2>/dev/null; rm -rf "$open"' EXIT
# shellcheck disable=SC2034
place=$open # cli/steps.sh restores it
mallory=64321
as_mallory() { setpriv --reuid=$mallory --regid=$mallory --clear-groups --inh-caps=-all "$@"; }

# Root becomes that account, which must be able to read the program and its folder.
build=$(dirname "$(dirname "$JITWARM")")
mkdir "$open/build"
(cd "$build" && ls -d src/jitwarm tests/simdriver/lib tests/framework/libsample_framework.so tests/framework/framework-app tests/nvrtc tests/attack/libtaken-name.so tests/attack/asking-threads 2>/dev/null) >"$open/parts"
mapfile -t parts <"$open/parts"
copy_for_all "$build" "$open/build" "${parts[@]}" || fail "copying for another account"
JITWARM=$open/build/src/jitwarm
cd "$open" || fail "$open is not there"

home=$open/home treasure=$open/treasure
mkdir -m 700 "$home" && chown $mallory:$mallory "$home"
mkdir -p "$treasure/folder"
printf 'precious' >"$treasure/file"
printf 'secret' >"$treasure/secret"
printf 'in a folder' >"$treasure/folder/file"
mkdir "$treasure/empty"
chmod 600 "$treasure/secret"
state_of() { (cd "$treasure" && find . -printf '%p %U %G %m %y\n' | sort && find . -type f -exec sha256sum {} + | sort); }
before=$(state_of)
untouched() { [[ $(state_of) == "$before" ]] || fail "root's files have changed: $(diff <(echo "$before") <(state_of))"; }
# hold_lease PATH: the account holds a lease on its file until the case ends: whoever opens the file waits, up to lease-break-time
hold_lease() {
	as_mallory /usr/bin/python3 -c "import fcntl, signal, sys, time
file = open(sys.argv[1], 'rb')
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print(flush=True)
time.sleep(300)" "$1" 2>/dev/null > >(cat >"$open/leased") &
	await test -s "$open/leased"
	rm "$open/leased"
}
# is_theirs PATH…: each path belongs to the account
is_theirs() {
	local path
	for path; do [[ $(stat -c %u "$path") == "$mallory" ]] || fail "$path belongs to account $(stat -c %u "$path")"; done
}
# make_with_fuse: makes $open/with-fuse. “python3 $open/with-fuse PLACE ACCOUNT SOURCE COMMAND…” runs the command where the folder PLACE is a
# FUSE file system of the account, whose empty root folder belongs to root; with the SOURCE “file”, a file that belongs to root. SOURCE is also
# “alone” (others may not enter), “silent” (nothing is answered) and “later” (the same as soon as PLACE.hush exists).
make_with_fuse() {
	cat >"$open/with-fuse" <<'P'
import ctypes, errno, os, struct, subprocess, sys, threading
place, account, source = sys.argv[1:4]
others = "" if source == "alone" else ",allow_other"
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
options = "fd=%d,rootmode=%s,user_id=%s,group_id=%s%s" % (device, "100600" if source == "file" else "40755", account, account, others)
if libc.mount(source.encode(), place.encode(), b"fuse", 0, options.encode()):
    sys.exit(77)

def serve():
    while True:
        try:
            request = os.read(device, 1 << 20)
        except OSError:
            return
        _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
        if source == "silent" and opcode != 26 or source == "later" and os.path.exists(place + ".hush"):
            continue
        if opcode == 26:  # INIT
            answer = struct.pack("<IIII", 7, 19, 4096, 0) + struct.pack("<HHI", 12, 12, 4096)
        elif opcode == 3:  # GETATTR
            answer = struct.pack("<QII", 1, 0, 0) + struct.pack("<QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0, *((0o100600, 1) if source == "file" else (0o40755, 2)), 0, 0, 0, 4096, 0)
        else:
            answer = None
        if opcode in (2, 36, 42):  # FORGET, INTERRUPT, BATCH_FORGET
            continue
        error = 0 if answer else -(errno.ENOENT if opcode == 1 else errno.ENOSYS)
        os.write(device, struct.pack("<IiQ", 16 + len(answer or b""), error, unique) + (answer or b""))

threading.Thread(target=serve, daemon=True).start()
status = subprocess.run(sys.argv[4:]).returncode
libc.umount2(place.encode(), 2)
sys.stdout.flush()
os._exit(status)
P
}
# The commands that jitwarm printed are not run here, since they would run with a state folder of root's (cli/steps.sh).
run_step() { :; }
# cached DIR: prints how many entries it has
cached() { find "$1/" -path '*/?/?/*' -type f 2>/dev/null | wc -l; }
