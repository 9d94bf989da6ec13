# startup registers a program that another account may replace neither for a service nor for all accounts; its units have few rights.
. "$cases/../lib.sh"
mkdir "$open/bin"
printf '#!/bin/sh\nexit 0\n' >"$open/bin/systemctl" && chmod 755 "$open/bin/systemctl"
export PATH=$open/bin:$PATH JITWARM_SYSTEM_ROOT=$open/root XDG_RUNTIME_DIR=$open/run
mkdir -m 700 "$open/run"
mkdir -p "$open/root/etc/systemd"
program=$JITWARM
printf 'root:x:0:0::/root:/bin/sh\nmallory:x:%s:%s::%s:/bin/sh\nother:x:64322:64322::/nonexistent:/bin/sh\n' \
	$mallory $mallory "$home" >"$open/root/etc/passwd"
units() { find "$JITWARM_SYSTEM_ROOT/etc/systemd" -type f; }

# A folder of root's alone may hold programs. $open itself is mostly in /tmp, where anyone may make a file once it is gone.
safe=$(folder_of_root) || skip "no folder of root's alone"
trap 'rm -rf "$open" "$safe"' EXIT

# refused WHAT NAMED: refuses $safe/x/jitwarm; the message says what is wrong, and names the path
refused() {
	local scope
	for scope in --service=web "--service=web --account=other" --all-users; do
		# shellcheck disable=SC2086
		JITWARM=${run_as-$safe/x/jitwarm} run 3 startup enable $scope
		err_has "$1"
		err_has "$2"
		err_has "install it where only administrators may write"
		err_one_line
		[[ -z $(units) ]] || fail "$scope: registered: $(units)"
	done
}
anew() {
	rm -rf "$safe/x"
	mkdir -m 755 "$safe/x"
	cp "$program" "$safe/x/jitwarm" && chmod 755 "$safe/x/jitwarm"
}
# enabled PROGRAM ARGUMENT…: PROGRAM registers itself
enabled() {
	local by=$1
	shift
	JITWARM=$by run 0 startup enable "$@"
	JITWARM=$program run 0 startup disable "${@:1:1}"
	[[ -z $(units) ]] || fail "left: $(units)"
}
anew
enabled "$safe/x/jitwarm" --service=web
enabled "$safe/x/jitwarm" --service=web --account=other
enabled "$safe/x/jitwarm" --all-users

may="other accounts may write to"
chmod 757 "$safe/x/jitwarm" && refused "$may" "$safe/x/jitwarm"
anew && chmod 757 "$safe/x" && refused "$may" "$safe/x"
anew && chmod 1777 "$safe/x" && refused "$may" "$safe/x"
anew && chgrp $mallory "$safe/x" && chmod 775 "$safe/x" && refused "$may" "$safe/x"
# Root's own group may write to a folder of root's.
anew && chmod 775 "$safe/x" && enabled "$safe/x/jitwarm" --service=web
anew && chown $mallory "$safe/x/jitwarm" && refused "belongs to" "$safe/x/jitwarm"
anew && chown $mallory "$safe/x" && refused "belongs to" "$safe/x"
# The folder two levels up belongs to another account.
anew && mkdir "$safe/x/bin" && mv "$safe/x/jitwarm" "$safe/x/bin" && chown $mallory "$safe/x" && run_as=$safe/x/bin/jitwarm refused "belongs to" "$safe/x"
# An access list gives another account a right that the group's bits alone would not give.
if anew && python3 - "$safe/x" $mallory 2>/dev/null <<'PYTHON'; then
import os, struct, sys
entry = lambda tag, bits, number=0xffffffff: struct.pack("<HHI", tag, bits, number)
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + entry(1, 7) + entry(2, 7, int(sys.argv[2])) + entry(4, 5) + entry(16, 7) + entry(32, 5))
PYTHON
	refused "$may" "$safe/x"
fi
# Everyone may write to the folder.
cp "$program" "$open/jitwarm"
[[ $open != /tmp/* ]] || run_as=$open/jitwarm refused "$may" /tmp

# The account's own program may be registered for that account, and for nobody else.
anew && chown -R $mallory "$safe/x"
enabled "$safe/x/jitwarm" --service=web --account=mallory
anew && chown -R $mallory "$safe/x" && refused "belongs to" "$safe/x"

# A unit has few rights.
anew
JITWARM=$safe/x/jitwarm
run 0 startup enable --service web --account mallory lib
run 0 startup enable --service db lib
run 0 startup enable --all-users lib
system=$JITWARM_SYSTEM_ROOT/etc/systemd/system
web=$system/jitwarm@web.service.d/60-jitwarm.conf db=$system/jitwarm@db.service.d/60-jitwarm.conf
has() { grep -qxF -- "$2" "$1" || fail "$1 lacks $2: $(cat "$1")"; }
has "$web" User=mallory
has "$web" ProtectHome=read-only
has "$web" "ReadWritePaths=-$home"
has "$db" User=root
has "$db" ReadWritePaths=-/root
common=(NoNewPrivileges=yes RestrictSUIDSGID=yes MemoryMax=75% SystemCallFilter=@system-service)
for line in "${common[@]}" ProtectSystem=full PrivateTmp=yes CapabilityBoundingSet= IPAddressDeny=any; do has "$system/jitwarm@.service" "$line"; done
for line in "${common[@]}"; do has "$system/../user/jitwarm.service" "$line"; done
! grep -q ^ExecStart= "$system/jitwarm@.service" || fail "the template runs a program for services that nobody enabled"
# These settings would hide the GPUs (/dev/nvidia*, /proc/driver/nvidia); an account's own manager cannot have them.
! grep -qE '^(PrivateDevices|DevicePolicy|DeviceAllow|ProtectClock|ProcSubset)=' "$system/jitwarm@.service" || fail "no GPU is seen"
! grep -qE '^(Protect|Private|Capab|User=)' "$system/../user/jitwarm.service" || fail "not for an account's manager"

if command -v systemd-analyze >/dev/null && [[ $(systemd-analyze --help) == *offline* ]]; then
	for unit in web db; do
		SYSTEMD_UNIT_PATH=$system: systemd-analyze security --offline=yes --no-pager --threshold=40 "$system/jitwarm@$unit.service" >"$open/level" 2>&1 ||
			fail "systemd-analyze: $(cat "$open/level")"
		grep -qE 'exposure level for jitwarm@.*: [0-3]\.[0-9] OK' "$open/level" || fail "systemd-analyze: $(cat "$open/level")"
		SYSTEMD_UNIT_PATH=$system: systemd-analyze verify "$system/jitwarm@$unit.service" >"$open/verify" 2>&1
		! grep -q "jitwarm@[a-z]*\.service" "$open/verify" || fail "systemd-analyze: $(cat "$open/verify")"
	done
fi
