# Ctrl-C ends a command that waits for an index which another program has locked.
# shellcheck source=/dev/null
. "$cases/../pack-entries.sh"
! is_wine || skip "Python's fcntl is for POSIX"

for n in 1 2 3; do pack_entry "$work/cache" "$n" "Apr  8 202512:10:18" 86; done
run 0 export --all --cache "$work/cache" -o "$work/a.jwpack"
run 0 import -q --allow-unsigned --as-is --cache "$work/copy" "$work/a.jwpack"
rm -r "$work/copy"/?
python3 -c "import fcntl, sys, time
file = open(sys.argv[1], 'r+b')
fcntl.lockf(file, fcntl.LOCK_EX)
print(flush=True)
time.sleep(60)" "$work/copy/index" >"$work/held" &
holder=$!
await test -s "$work/held"
# shellcheck disable=SC2086
$JITWARM import --allow-unsigned --as-is --cache "$work/copy" "$work/a.jwpack" >"$out" 2>"$err" </dev/null &
waiting=$!
has_opened_index() { [[ -n $(find "/proc/$waiting/fd" -lname "$work/copy/index") ]]; }
await has_opened_index
asked=$(date +%s%N)
kill -INT $waiting
ended=0
wait $waiting || ended=$?
lasted=$((($(date +%s%N) - asked) / 1000000))
[[ $ended == 130 ]] || fail "status $ended after Ctrl-C"
((lasted < 1000)) || fail "ended $lasted ms after Ctrl-C"
err_has "interrupted while another process had locked $work/copy/index"
kill $holder
snapshot run 0 cache verify --cache "$work/copy"
run 0 import -q --allow-unsigned --as-is --cache "$work/copy" "$work/a.jwpack"
run 0 cache verify --cache "$work/copy"
