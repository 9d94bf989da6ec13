# Root with another account's home, as `sudo -E` and many services have it: what jitwarm keeps there is that account's, and no
# link in it is followed
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
export HOME=$home JITWARM_STORE=1
state=$home/.local/state/jitwarm

everything_is_theirs() {
	while read -r path; do is_theirs "$path"; done < <(find "$home" -mindepth 1)
}
run 0 prime "$sample"
[[ -e $state/ledger-lock && -e $state/drivers ]] || fail "not kept in $state: $(find "$home")"
everything_is_theirs
as_mallory rm -rf "$state"
run '0|1' startup status
run 0 cache verify
everything_is_theirs

# Each name that is there, as a link
mapfile -t names < <(run 0 prime "$sample" && find "$state" -mindepth 1 -maxdepth 1 -printf '%f\n')
((${#names[@]} > 3)) || fail "few names: ${names[*]}"
for name in "${names[@]}" runs store; do
	target=file
	[[ ! -d $state/$name ]] || target=folder
	for target in $target missing; do
		as_mallory rm -rf "${state:?}/$name"
		as_mallory ln -s "$treasure/$target" "$state/$name"
		rm -rf "$home/.nv"
		run '0|1|2|3' prime --quiet "$sample"
		untouched
		run '0|1|2|3' tune --apply --max-size 2GiB --scope user
		untouched
		as_mallory rm "$state/$name"
	done
done
# The folder itself
for target in folder empty missing; do
	as_mallory rm -rf "$home/.local"
	as_mallory mkdir -p "${state%/*}"
	as_mallory ln -s "$treasure/$target" "$state"
	rm -rf "$home/.nv"
	run '0|1|2|3' prime --quiet "$sample"
	untouched
done

# No folder for temporary files that the account could swap is used
as_mallory rm -rf "$home/.local"
as_mallory mkdir -m 700 "$home/tmp"
TMPDIR=$home/tmp run 0 prime --quiet "$sample"
[[ -z $(ls -A "$home/tmp") ]] || fail "left in $home/tmp: $(ls -A "$home/tmp")"
