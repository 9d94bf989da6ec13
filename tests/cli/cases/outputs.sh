# What is named for output and is no regular file: a device and a pipe get what a file would get, all else is refused
. "$cases/../lib.sh"
is_wine && skip "Windows has neither device files nor named pipes in folders"
with_simdriver sm_86
run 0 prime "$sample"
run 0 key generate outputs --no-passphrase
mkfifo pipe

# The whole of what a command writes through the pipe. The reader is there before the command begins, and ends with the last writer.
cat >reader.py <<'PYTHON'
import os, sys, time

pipe = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
open("ready", "w").close()
began, end = False, time.monotonic() + 180
with open(sys.argv[1], "wb") as to:
    while time.monotonic() < end:
        try:
            got = os.read(pipe, 65536)
        except BlockingIOError:
            got = None  # a writer that has written nothing yet
        if got == b"" and began:
            break
        began = began or got != b""
        to.write(got or b"")
        if not got:
            time.sleep(0.01)
PYTHON
through() { # NAME ARGUMENT...: runs it with “pipe”, and puts what a reader got into NAME
	local name=$1
	shift
	rm -f ready
	python3 reader.py "$name" &
	await test -e ready
	run 0 "$@"
	wait $!
	[[ -p pipe ]] || fail "$*: the pipe is a $(stat -c %F pipe) now"
}
run 0 export -o file
through got export -o pipe
cmp file got || fail "a pack that went through a pipe is another one"
run 0 run --record file "$sample" -- true
through got run --record pipe "$sample" -- true
cmp file got || fail "a recording that went through a pipe is another one"
through got prime "$sample" --json-log pipe
python3 -c 'import json; assert json.load(open("got"))["schema"].startswith("jitwarm.run/")' || fail "no line came out of the pipe"

# Into nowhere
for arguments in "export -o" "run --record" "prime $sample --json-log"; do
	read -ra words <<<"$arguments"
	rest=()
	[[ $arguments != run* ]] || rest=(-- true)
	run 0 "${words[@]}" /dev/null "${rest[@]}"
	[[ -c /dev/null ]] || fail "/dev/null is a $(stat -c %F /dev/null) now"
	err_lacks "nvalid argument"
	err_lacks "Illegal seek"
done

# Refused, by a line that says why
mkdir folder
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
for to in 3:pipe:"is a pipe that no other process reads" 64:folder:"Is a directory" 3:socket:"is a disk or a socket"; do
	status=${to%%:*} to=${to#*:}
	run $status export -o "${to%%:*}"
	err_has "${to%%:*}: ${to#*:}"
	run "2|$status" prime "$sample" --json-log "${to%%:*}"
	err_has "${to%%:*}: ${to#*:}"
done

# A key is kept in files alone
mkfifo "${JITWARM_STATE:?}/keys/second.pub"
run 3 key generate second --no-passphrase
err_has "second.pub: is not a regular file: not replaced"
[[ -p $JITWARM_STATE/keys/second.pub ]] || fail "a pipe was replaced by a key"
