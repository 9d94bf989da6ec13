# In a current folder that is removed, or that the account may not read, a command answers about absolute paths and about packages.
. "$cases/../../accounts.sh"
is_wine && skip "Windows keeps the current folder of a process"
prefix=
unset JITWARM_FOLLOW # which looks for the case's own folder
if open=$(folder_for_all); then
	trap 'rm -rf "$open"' EXIT
	copy_for_all "$(dirname "$(dirname "$JITWARM")")" "$open" src/jitwarm tests/simdriver/lib tests/framework/libsample_framework.so
	JITWARM=$open/src/jitwarm prefix="${as_other[*]} env HOME=$open/home "
	mkdir -m 777 "$open/home"
	work=$open
fi
with_simdriver sm_86
differs_for ACCOUNT # which runs the program where it was built
export CUDA_CACHE_PATH=$work/home/cache JITWARM_STATE=$work/home/state
environment "$work/env" 1.0
export VIRTUAL_ENV=$work/env
chmod -R a+rX "$work/env"
before=$PWD JITWARM="${JITWARM% *} $prefix${JITWARM##* }"
for how in removed unread; do
	mkdir "$work/here"
	cd "$work/here" || fail "no folder"
	if [[ $how == removed ]]; then rmdir "$work/here"; else chmod 000 "$work/here"; fi
	snapshot run '0|1'
	run '0|1' status
	for operand in "$(site_of "$work/env")/$frame_library" frame; do
		run 0 scan "$operand"
		run 0 lint "$operand"
		run '0|1' check "$operand"
		run 0 prime --quiet --no-store "$operand"
	done
	run 0 scan
	snapshot run 3 scan none.so
	if [[ $how == removed ]]; then err_has "none.so: no such file"; else err_has "none.so: Permission denied"; fi
	snapshot run 3 export
	cd "$before" || fail "no folder"
	[[ $how == removed ]] || chmod 700 "$work/here"
done
