# NVIDIA's driver loads the library that root's /dev/shm/cuda_injection_path_shm names, whoever may write to the file (src/driver/injection.h).
# The case has a /dev/shm of its own.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE
export HOME=$work/home
name=/dev/shm/cuda_injection_path_shm
mkdir -p "$HOME" "$open/caches"
cat >"$open/with-shm" <<'P'
shopt -s nullglob
mount --rbind /dev/shm "$1" && mount -t tmpfs -o mode=1777 none /dev/shm || exit 77
for folder in "$1"/*/; do
	mkdir "/dev/shm/$(basename "$folder")" && mount --rbind "$folder" "/dev/shm/$(basename "$folder")" || exit 77
done
shift
exec "$@"
P
mkdir /tmp/jitwarm-shm.$$ && trap 'jobs -p | xargs -r kill -9 2>/dev/null; rmdir /tmp/jitwarm-shm.$$; rm -rf "$open"' EXIT
own_shm="unshare -m bash $open/with-shm /tmp/jitwarm-shm.$$"
$own_shm true 2>/dev/null || skip "no /dev/shm of the case's own"
# planted COMMANDS: primes after these commands, and prints what has the name while a worker works and at the end
cat >"$open/planted" <<'P'
. "$1"
shift
touch "$SIMDRIVER_GATE"
"$@" &
for ((i = 0; i < 100; i++)); do
	grep -qs 'fault wait' "$SIMDRIVER_LOG" && break || kill -0 $! 2>/dev/null || break
	sleep 0.1
done
stat -c 'during: %s %h %u %a' /dev/shm/cuda_injection_path_shm
rm -f "$SIMDRIVER_GATE"
wait $!
status=$?
stat -c 'after: %s %h %u %a' /dev/shm/cuda_injection_path_shm
exit $status
P
program=$JITWARM
export SIMDRIVER_FAULT=wait:.version SIMDRIVER_GATE=$open/gate SIMDRIVER_LOG=$work/log
# primes STATUS COMMANDS
primes() {
	rm -rf "$SIMDRIVER_LOG" "$open/caches/"*
	printf '%s' "$2" >"$open/commands"
	JITWARM="$own_shm bash $open/planted $open/commands $program"
	CUDA_CACHE_PATH=$open/caches/cache run "$1" prime --quiet "$sample"
}
primes 0 ''
out_has "during: 39 1 0 600"
out_lacks "after:"
for planted in 'touch /dev/shm/of-root && ln /dev/shm/of-root /dev/shm/cuda_injection_path_shm' \
	'touch /dev/shm/cuda_injection_path_shm && chmod 666 /dev/shm/cuda_injection_path_shm'; do
	primes 2 "$planted"
	err_has "$name: NVIDIA's driver would run the library that this file names as root, and another account can have written it: delete that file"
	[[ ! -s $SIMDRIVER_LOG ]] || fail "a worker was started: $(cat "$SIMDRIVER_LOG")"
done
# The driver ignores another account's file, but that account could rename a link to root's file over it while a worker starts.
primes 0 "setpriv --reuid=$mallory --clear-groups touch $name"
out_has "during: 39 1 0 600"
out_lacks "after:"
# In a folder without the sticky bit, other accounts can exchange root's file.
# (Not where the case itself is below that folder, and root's HOME is refused first.)
if [[ $work$open != */dev/shm/* ]]; then
	primes 2 "chmod 777 /dev/shm"
	err_has "$name: NVIDIA's driver would run the library that a file of this name names as root, and other accounts may write to /dev/shm: type “chmod 1777 /dev/shm”"
	JITWARM_TRUST_ACCOUNTS='*' primes 0 "chmod 777 /dev/shm"
fi
primes 0 "mount -o remount,ro,bind /dev/shm"
out_lacks "during:"
# An account's FUSE file system shows its file as root's.
make_with_fuse
if [[ -c /dev/fuse && $($own_shm bash -c "setpriv --reuid=$mallory --clear-groups touch $name && /usr/bin/python3 $open/with-fuse $name $mallory file stat -c %u $name" 2>/dev/null) == 0 ]]; then
	primes 2 "setpriv --reuid=$mallory --clear-groups touch $name; set -- - /usr/bin/python3 $open/with-fuse $name $mallory file \"\${@:2}\""
	err_has "$name: NVIDIA's driver would run the library that this file names as root, and another account can have written it: delete that file"
	[[ ! -s $SIMDRIVER_LOG ]] || fail "a worker was started: $(cat "$SIMDRIVER_LOG")"
fi
# Root's own file stays.
primes 0 "truncate -s 1024 $name"
out_has "after: 1024 1 0 644"
# Two jitwarms at once: the one that ends last gives the name back, whichever made the file.
cat >"$open/two" <<'P'
shopt -s nullglob
begin() {
	touch "$SIMDRIVER_GATE$1"
	SIMDRIVER_GATE=$SIMDRIVER_GATE$1 SIMDRIVER_LOG=$SIMDRIVER_LOG$1 CUDA_CACHE_PATH=$CUDA_CACHE_PATH$1 JITWARM_STATE=$HOME/state$1 "${@:2}" &
	started[$1]=$!
	for ((i = 0; i < 100; i++)); do
		grep -qs 'fault wait' "$SIMDRIVER_LOG$1" && return || sleep 0.1
	done
}
finish() {
	rm "$SIMDRIVER_GATE$1"
	wait "${started[$1]}" && echo "jitwarm $1 has ended:" /dev/shm/cuda_injection*
}
order=($1)
begin 1 "${@:2}" && begin 2 "${@:2}" && finish "${order[0]}" && finish "${order[1]}"
P
for order in '1 2' '2 1'; do
	rm -rf "$SIMDRIVER_LOG"* "$open/caches/"* "$HOME"/state*
	printf '%s "$@"\n' "exec $own_shm bash $open/two '$order' $program" >"$open/start"
	JITWARM="bash $open/start"
	CUDA_CACHE_PATH=$open/caches/cache run 0 prime --quiet "$sample"
	out_has "jitwarm ${order% *} has ended: $name"
	out_has "jitwarm ${order#* } has ended:"$'\n'
done
