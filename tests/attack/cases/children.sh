# import --all-users from root's terminal: the process for an account has nothing of root's (terminal, open files, variables), an account
# that stops its process delays nobody, and a folder beside the pack is not taken for a cache.
. "$cases/../lib.sh"
with_simdriver sm_86
# The account is this test's alone, since each process that runs as the account is stopped.
mallory=$((30000 + $$ % 30000))
chown $mallory:$mallory "$home"
mkdir -m 1777 "$open/sticky"
CUDA_CACHE_PATH=$work/cache run 0 prime --quiet "$sample"
CUDA_CACHE_PATH=$work/cache run 0 export -o "$open/sticky/a.jwpack"
as_mallory mkdir "$open/sticky/a.jwpack.none" && as_mallory truncate -s 3G "$open/sticky/a.jwpack.none/index"
CUDA_CACHE_PATH=$work/other run 0 import --allow-unsigned "$open/sticky/a.jwpack"
export JITWARM_SYSTEM_ROOT=$open/root
mkdir -p "$open/root/etc"
printf 'UID_MIN 20000\nUID_MAX 99999\n' >"$open/root/etc/login.defs"
printf 'root:x:0:0::/root:/bin/sh\nmallory:x:%s:%s::%s:/bin/sh\n' $mallory $mallory "$home" >"$open/root/etc/passwd"
# The spy stops each process of the account at once, as the account may, and writes down what the process has.
cat >"$open/spy.py" <<'PYTHON'
import os, signal, sys
account, found = int(sys.argv[1]), open(sys.argv[2], "w")
seen = set()
print("ready", flush=True)
while True:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pid in seen or os.stat("/proc/" + pid).st_uid != account and "\nUid:\t%d\t" % account not in open("/proc/%s/status" % pid).read():
                continue
            os.setresuid(account, account, 0)
            try:
                os.kill(int(pid), signal.SIGSTOP)
            finally:
                os.setresuid(0, 0, 0)
            seen.add(pid)
            terminal = open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()[4]
            files = sorted(int(fd) for fd in os.listdir("/proc/%s/fd" % pid) if int(fd) > 2)
            names = [os.readlink("/proc/%s/fd/%d" % (pid, fd)) for fd in files]
            names = [name for name in names if not name.startswith((sys.argv[3], "/proc/%s/" % pid))]
            print("terminal", terminal, "secret", b"SECRET" in open("/proc/%s/environ" % pid, "rb").read(), "files", names, file=found, flush=True)
        except (OSError, ProcessLookupError):
            pass
PYTHON
nice -n -15 python3 "$open/spy.py" $mallory "$open/found" "$home/" >"$open/ready" &
spy=$!
trap 'kill $spy 2>/dev/null; rm -rf "$open"' EXIT
await grep -q ready "$open/ready"
# shellcheck disable=SC2086
SECRET_OF_ROOT=SECRET timeout 60 python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
	bash -c 'exec 3<"$1" 7<"$1"; shift; exec "$@"' _ "$treasure/secret" $JITWARM import --all-users --allow-unsigned "$open/sticky/a.jwpack" >"$open/said" 2>&1 </dev/null &&
	fail "not said that one was stopped: $(cat "$open/said")"
kill $spy
grep -q "was stopped" "$open/said" || fail "not said: $(cat "$open/said")"
[[ -s $open/found ]] || fail "no process of the account was met"
grep -v "^terminal 0 secret False files \['$open/sticky/a.jwpack'\]$" "$open/found" && fail "of root's: $(cat "$open/found")"
# Without the spy, the same import succeeds.
run 0 import --all-users --allow-unsigned "$open/sticky/a.jwpack"
