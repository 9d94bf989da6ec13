# Commands that only read answer in another account's places without jitwarm's state, and say so in one line; run starts its program; a process of
# another account is its own account's to examine.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
nothing_made() { [[ -z $(find "$home" "$work/home" -mindepth 1) ]] || fail "made: $(find "$home" "$work/home" -mindepth 1)"; }
for command in status "check $sample" "check --target sm_86 $sample" "scan --target sm_86 $sample" "lint $sample" doctor find "cache list" "startup status" "key list" "store list" config tune; do
	# shellcheck disable=SC2086
	HOME=$home run '0|1|2' $command
	[[ $(grep -c "belongs to account $mallory; jitwarm remembers nothing of this run" "$err") == 1 ]] || fail "not said once"
	err_lacks "does not use"
	[[ -s $out || $command == *" list" ]] || fail "no answer"
	nothing_made
done
HOME=$home run 0 help prime
err_empty
# doctor's probe would have the driver write.
mkdir "$home/cache" && chown $mallory "$home/cache"
CUDA_CACHE_PATH=$home/cache run '0|1|2' doctor "$sample"
[[ -z $(ls -A "$home/cache") ]] || fail "the driver wrote as root: $(find "$home/cache")"
rm -r "$home/cache" "$work/home"/.[a-z]*
# export reads the account's cache, and root's pack is root's.
CUDA_CACHE_PATH=$work/cache run 0 prime --quiet "$sample"
cp -r "$work/cache" "$home/cache" && chown -R $mallory "$home/cache"
HOME=$home CUDA_CACHE_PATH=$home/cache run 0 export -o "$work/whole.jwpack"
[[ $(stat -c %u "$work/whole.jwpack") == 0 ]] || fail "not root's"
rm -rf "$home/cache" "$work/home"/.[a-z]*
HOME=$home run 7 run -- sh -c 'echo "$HOME"; exit 7'
out_has "$home"
err_has "jitwarm remembers nothing of this run"
HOME=$home run 2 run --record "$work/x.json" -- touch "$work/started"
[[ ! -e $work/started ]] || fail "it was started"
nothing_made
# Variables that only help are ignored: what they name is neither written nor started.
for name in TMPDIR XDG_RUNTIME_DIR PYENV_ROOT; do (export $name="$home" && run 0 prime "$sample" && [[ -z $(ls -A "$home") ]]) || fail "$name was used"; done
for pid in root theirs; do
	if [[ $pid == root ]]; then HOME=$home CUDA_CACHE_PATH=$home/place python3 -c "import ctypes, time; ctypes.CDLL('$sample'); time.sleep(60)" & else setpriv --reuid=$mallory --regid=$mallory --clear-groups sleep 60 & fi
	begun=$!
	await grep -q 'libsample\|bin/sleep' "/proc/$begun/maps"
	run '0|1|2' doctor --pid $begun
	[[ $pid != root ]] || { run '0|1|2' watch --for 1s $begun && err_has "jitwarm remembers nothing"; }
	[[ $pid == root ]] || err_has "type “sudo -u '#$mallory' jitwarm doctor --pid $begun”"
	[[ $pid == root ]] || { run 2 watch $begun && err_has "type “sudo -u '#$mallory' jitwarm watch $begun”"; }
	kill $begun
done
[[ -z $(ls -A "$home") ]] || fail "made: $(find "$home")"
