# System-wide files that jitwarm writes are readable for all and writable for root alone, whatever the umask is.
. "$cases/../lib.sh"
mkdir -p "$open/bin"
printf '#!/bin/sh\nexit 0\n' >"$open/bin/systemctl" && chmod 755 "$open/bin/systemctl"
export PATH=$open/bin:$PATH XDG_RUNTIME_DIR=$open/run
safe=$(folder_of_root) || skip "no folder of root's alone"
trap 'rm -rf "$open" "$safe"' EXIT
cp "$JITWARM" "$safe/jitwarm" && JITWARM=$safe/jitwarm
for mask in 000 077 027; do
	export JITWARM_SYSTEM_ROOT=$open/root-$mask
	mkdir -p "$JITWARM_SYSTEM_ROOT"
	umask $mask
	run 0 tune --apply --scope system --max-size 2GiB
	run '0|1' startup enable --all-users
	umask 022
	count=0
	while read -r mode kind path; do
		count=$((count + 1))
		[[ $kind$mode == f644 || $kind$mode == d755 ]] || fail "umask $mask: $path has $mode"
	done < <(find "$JITWARM_SYSTEM_ROOT" -mindepth 1 -printf '%m %y %p\n')
	((count > 3)) || fail "few files: $(find "$JITWARM_SYSTEM_ROOT")"
done
