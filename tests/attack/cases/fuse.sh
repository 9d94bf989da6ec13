# Whoever mounts a FUSE file system answers for its files, and shows whichever owners it likes. Where the system lets accounts mount one that
# others may enter (user_allow_other in /etc/fuse.conf), an account puts it on its folder in /tmp.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
export HOME=$work/home
mkdir -p "$HOME"
[[ -c /dev/fuse ]] || skip "no /dev/fuse"
place=$open/place
mkdir "$place"
make_with_fuse
fuse="unshare -m /usr/bin/python3 $open/with-fuse $place $mallory"
[[ $($fuse source stat -c '%u %a' "$place" 2>/dev/null) == "0 755" ]] || skip "no FUSE file system can be mounted here"
program=$JITWARM
# The account chooses the name of what it mounts.
for source in source 'x,user_id=0,'; do
	JITWARM="$fuse $source $program" run 2 prime --cache "$place/cache" "$sample"
	err_has "--cache=$place/cache: $place belongs to account $mallory"
done

# Without /proc, as in a chroot, nothing says who has mounted it. Sanitizers need /proc.
if ! grep -qE '__[at]san_init' "${JITWARM##* }"; then
	mkdir "$open/top"
	cat >"$open/no-proc" <<'P'
mount -t tmpfs none "$1" && cd "$1" || exit 77
shift
for path in /*; do
	if [[ -L $path ]]; then cp -P "$path" . ; elif [[ -d $path ]]; then mkdir ".$path" && { [[ $path == /proc ]] || mount --rbind "$path" ".$path"; }; fi || exit 77
done
exec chroot . "$@"
P
	for command in "config jobs 2" "key generate x"; do
		# shellcheck disable=SC2086
		JITWARM="$fuse source bash $open/no-proc $open/top env HOME=$place $program" run 2 $command
		err_has "HOME=$place: $place cannot be examined; root changes nothing there"
	done
	# There, root still works in its own folders.
	mkdir "$open/own"
	JITWARM="$fuse source bash $open/no-proc $open/top env HOME=$open/own $program" run 0 config jobs 2
fi

# Without allow_other, root cannot even look at the place, in which another folder may appear while root works.
for option in "prime --cache $place/cache" "run --record $place/r.json" "bake -o $place/sub/"; do
	# shellcheck disable=SC2086
	JITWARM="$fuse alone $program" run 2 $option ${option:+"$([[ $option == run* ]] && echo true || echo "$sample")"}
	err_has "$place cannot be examined; root changes nothing there: name another file or folder"
done

# In /tmp, the account has a symlink to a file system that does not answer, or mounts one on a folder with the name of a run's: root waits for
# neither.
in_tmp=/tmp/of-mallory-$$ run_in_tmp=/tmp/jitwarm-run-$$-x
trap 'rm -rf "$in_tmp" "$run_in_tmp"; jobs -p | xargs -r kill -9 2>/dev/null; rm -rf "$open"' EXIT
as_mallory ln -s "$place/x" "$in_tmp"
as_mallory mkdir -m 700 "$run_in_tmp"
for mounted in "$place" "$run_in_tmp"; do
	JITWARM="env -u TMPDIR unshare -m /usr/bin/python3 $open/with-fuse $mounted $mallory silent timeout -k 1 60 $program"
	CUDA_CACHE_PATH=$work/cache run 0 prime --quiet "$sample"
done
rm -r "${in_tmp:?}" "${run_in_tmp:?}"
# The account's folder in root's cache is that account's, whichever owner its file system shows.
mkdir -p "$work/other/0" && chown $mallory "$work/other/0"
JITWARM="unshare -m /usr/bin/python3 $open/with-fuse $work/other/0 $mallory source $program"
CUDA_CACHE_PATH=$work/other run 1 check "$sample"
err_has "$work/other/0 belongs to account $mallory, and root changes nothing there"
JITWARM=$program

# The root folder of the account's process is such a file system, which answers no more: root asks it nothing.
cat >"$open/enter" <<'P'
import ctypes, os, sys, time
ctypes.CDLL(None).unshare(0x10000000)  # CLONE_NEWUSER
os.chroot(sys.argv[1])
print(os.getpid(), flush=True)
time.sleep(60)
P
cat >"$open/entered" <<'P'
setpriv --reuid="$1" --regid="$1" --clear-groups /usr/bin/python3 "$2" "$3" >"$3.process" &
for ((i = 0; i < 100; i++)); do [[ -s $3.process ]] && break || sleep 0.1; done
[[ -s $3.process ]] || exit 77
: >"$3.hush"
timeout -k 1 20 "${@:4}" "$(cat "$3.process")"
status=$?
kill %1
rm "$3.hush" "$3.process"
exit $status
P
for command in "doctor --no-probe --pid" "watch --for 1s"; do
	JITWARM="$fuse later bash $open/entered $mallory $open/enter $place $program"
	# shellcheck disable=SC2086
	run '2|77' $command
	[[ ! -s $err ]] || err_has "sees other files"
done
JITWARM=$program

# The account's home does not answer: root says for whom it waits, and ends when it is told to, although the process that acts as the account does
# not. The command is kept from an endless wait here as well.
CUDA_CACHE_PATH=$work/cache run 0 prime --quiet "$sample"
CUDA_CACHE_PATH=$work/cache run 0 export -o "$open/a.jwpack"
mkdir -p "$open/root/etc"
printf 'UID_MIN 20000\nUID_MAX 99999\n' >"$open/root/etc/login.defs"
printf 'root:x:0:0::/root:/bin/sh\nmallory:x:%s:%s::%s:/bin/sh\n' $mallory $mallory "$place" >"$open/root/etc/passwd"
cat >"$open/until-told" <<'P'
"$@" 2>said &
for ((i = 0; i < 600; i++)); do
	grep -q "mallory: the process that acts as that account ([0-9]*) has not ended in 10 s" said && break
	sleep 0.1
done
kill $!
for ((; i < 900; i++)); do
	kill -0 $! 2>/dev/null || break
	sleep 0.1
done
((i < 600)) && wait $!
P
# shellcheck disable=SC2086
JITWARM_SYSTEM_ROOT=$open/root $fuse silent bash "$open/until-told" $program import --all-users --allow-unsigned "$open/a.jwpack" >"$open/log" 2>&1
status=$?
((status == 143)) || fail "ended with $status: $(cat "$open/log" said)"
