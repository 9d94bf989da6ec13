# A named output that is not a regular file is neither written nor replaced.
. "$cases/../lib.sh"
is_wine && skip "Windows has neither device files nor named pipes in folders"
with_simdriver sm_86
run 0 prime "$sample"
run 0 key generate outputs
mkfifo pipe
mkdir folder
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
for to in pipe folder socket /dev/null; do
	kind=$(stat -c %F $to)
	snapshot run "3|64" export -o $to
	snapshot run "3|64" prime "$sample" --json-log $to
	snapshot run "3|64" run --record $to -- true
	[[ $(stat -c %F $to) == "$kind" ]] || fail "$to is a $(stat -c %F $to) now"
done

# Keys are kept only in files.
mkfifo "${JITWARM_STATE:?}/keys/second.pub"
snapshot run 3 key generate second
[[ -p $JITWARM_STATE/keys/second.pub ]] || fail "a pipe was replaced by a key"
