# import --all-users into twenty-two homes, most of them hostile: the process that fills a home is that account, so nothing of root's changes,
# no file of root's is left in the home, and the good homes get their entries.
. "$cases/../lib.sh"
with_simdriver sm_86
run 0 prime --quiet "$sample"
run 0 export -o "$open/a.jwpack" --json
entries=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["entries"])' "$out")
chmod 600 "$open/a.jwpack" # no account can open it by name
unset CUDA_CACHE_PATH
export JITWARM_SYSTEM_ROOT=$open/root
mkdir -p "$open/root/etc" "$open/homes"
printf 'UID_MIN 20000\nUID_MAX 29999\n' >"$open/root/etc/login.defs"
printf 'root:x:0:0::/root:/bin/sh\n' >"$open/root/etc/passwd"
number=20000
as() { setpriv --reuid=$number --regid=$number --clear-groups --inh-caps=-all "$@"; }
# hostile NAME COMMAND…: makes a home in whose .nv/ComputeCache its account has run the command
hostile() {
	local name=$1
	shift
	number=$((number + 1))
	printf '%s:x:%s:%s::%s:/bin/sh\n' "$name" $number $number "$open/homes/$name" >>"$open/root/etc/passwd"
	mkdir -m 700 "$open/homes/$name" && chown $number:$number "$open/homes/$name"
	as mkdir -p "$open/homes/$name/.nv/ComputeCache"
	(cd "$open/homes/$name/.nv/ComputeCache" && as "$@") || fail "$name cannot be made"
}
good="first second third"
hostile first true
for target in file secret folder missing empty; do
	hostile "cache-$target" sh -c "cd .. && rmdir ComputeCache && ln -s '$treasure/$target' ComputeCache"
	hostile "index-$target" ln -s "$treasure/$target" index
done
hostile nv-empty sh -c "cd ../.. && rm -r .nv && ln -s '$treasure/empty' .nv"
hostile nv-first sh -c "cd ../.. && rm -r .nv && ln -s '$open/homes/first/.nv' .nv"
hostile parts sh -c "for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do ln -s '$treasure/empty' \$part; done"
hostile parts-of-first sh -c "for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do ln -s '$open/homes/first/.nv/ComputeCache' \$part; done"
hostile pipe mkfifo index
hostile pipe-parts sh -c "for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do mkfifo \$part; done"
hostile folder mkdir -p index/more
hostile shut chmod 500 .
hostile second true
# The folder of the whole system is nobody's home.
printf 'service:x:29998:29998::/:/bin/sh\n' >>"$open/root/etc/passwd"
mknod "$open/homes/second/.nv/device" c 1 3 2>/dev/null && chown -h "$number" "$open/homes/second/.nv/device" && as ln -s ../device "$open/homes/second/.nv/ComputeCache/index"

# The account interrupts its own processes, as long as it can.
hostile interrupts true
cat >"$open/interrupt.py" <<'PYTHON'
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try:
        os.kill(-1, signal.SIGINT)
    except ProcessLookupError:
        pass
PYTHON
setpriv --reuid=$number --regid=$number --clear-groups --inh-caps=-all /usr/bin/python3 "$open/interrupt.py" &
hostile third true

(($(wc -l <"$open/root/etc/passwd") == 24)) || fail "not twenty-two: $(cat "$open/root/etc/passwd")"

# Run it also without the capabilities by which root reads other accounts' files: nobody but the account reads its home.
for lessened in "" "setpriv --bounding-set=-dac_override,-dac_read_search,-fowner,-chown,-linux_immutable"; do
	JITWARM="$lessened $JITWARM" limit=120 run 1 import --all-users --allow-unsigned --json "$open/a.jwpack"
	untouched
	for name in $good; do
		[[ $(cached "$open/homes/$name/.nv/ComputeCache") == "$entries" ]] || fail "$name has $(cached "$open/homes/$name/.nv/ComputeCache") of $entries: $(cat "$out")"
	done
	strangers=$(for home in "$open/homes"/*; do find "$home" -not -user "$(stat -c %u "$home")" -printf '%p %u\n'; done)
	[[ -z $strangers ]] || fail "not their own: $strangers"
	json "[a['account'] for a in d['accounts'] if 'failed' not in a][:1] == ['first'] and len(d['accounts']) == 22"
	rm -rf "$open/homes"/{first,second,third}/.nv/ComputeCache/?
done
