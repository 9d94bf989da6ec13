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
# Other new files get what the umask leaves, also where /proc is not mounted, and where they exist already.
unset JITWARM_SYSTEM_ROOT XDG_CONFIG_HOME
unshare -m sh -c 'mount -t tmpfs none /proc' 2>/dev/null || skip "no mount namespace"
cat >"$open/without-proc" <<'S'
#!/bin/sh
mount -t tmpfs none /proc && umask 027 && exec "$@"
S
chmod 755 "$open/without-proc"
program=$JITWARM
for place in mounted unmounted; do
	export HOME=$open/$place JITWARM_STATE=$open/$place/state
	mkdir "$HOME"
	[[ $place == mounted ]] || JITWARM="unshare -m $open/without-proc $program"
	(umask 027 && run 0 key generate && run 0 config jobs 2 && run 0 config jobs 3) || exit 1
	out_has "jobs             3"
	[[ $(stat -c %a "$JITWARM_STATE/keys/default.pub" "$HOME/.config/jitwarm/config" | tr '\n' ' ') == "640 600 " ]] || fail "$place: $(ls -l "$JITWARM_STATE/keys" "$HOME/.config/jitwarm")"
done
