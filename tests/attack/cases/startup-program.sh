# startup registers a program that another account may replace neither for a service nor for all accounts; its units have few rights.
. "$cases/../lib.sh"
mkdir "$open/bin"
printf '#!/bin/sh\nexit 0\n' >"$open/bin/systemctl" && chmod 755 "$open/bin/systemctl"
export PATH=$open/bin:$PATH JITWARM_SYSTEM_ROOT=$open/root XDG_RUNTIME_DIR=$open/run
mkdir -m 700 "$open/run"
mkdir -p "$open/root/etc/systemd" "$open/x"
program=$JITWARM
printf 'root:x:0:0::/root:/bin/sh\nmallory:x:%s:%s::%s:/bin/sh\n' $mallory $mallory "$home" >"$open/root/etc/passwd"
units() { find "$JITWARM_SYSTEM_ROOT/etc/systemd" -type f; }
for wrong in "chown $mallory $open/x/jitwarm" "chown $mallory $open/x" "chmod 757 $open/x/jitwarm" "chmod 757 $open/x" "chmod 775 $open/x" none; do
	rm -rf "$open/x" && mkdir -m 755 "$open/x" && cp "$program" "$open/x/jitwarm" && chmod 755 "$open/x/jitwarm"
	[[ $wrong == none ]] || $wrong
	for scope in --service=web "--service=web --account=mallory" --all-users; do
		# shellcheck disable=SC2086
		if [[ $wrong == none ]]; then
			JITWARM=$open/x/jitwarm run 0 startup enable $scope
			JITWARM=$program run 0 startup disable "${scope%% *}"
		else
			JITWARM=$open/x/jitwarm run '2|3' startup enable $scope
			err_has "install it where only administrators may write"
		fi
		[[ -z $(units) ]] || fail "$wrong $scope: $(units)"
	done
done
JITWARM=$open/x/jitwarm
run 0 startup enable --service web --account mallory lib
run 0 startup enable --all-users lib
system=$JITWARM_SYSTEM_ROOT/etc/systemd/system
web=$system/jitwarm@web.service.d/60-jitwarm.conf
has() { grep -qxF -- "$2" "$1" || fail "$1 lacks $2: $(cat "$1")"; }
for line in User=mallory ProtectHome=read-only "ReadWritePaths=-$home"; do has "$web" "$line"; done
for line in NoNewPrivileges=yes RestrictSUIDSGID=yes SystemCallFilter=@system-service; do has "$system/jitwarm@.service" "$line" && has "$system/../user/jitwarm.service" "$line"; done
for line in ProtectSystem=full PrivateTmp=yes CapabilityBoundingSet= IPAddressDeny=any; do has "$system/jitwarm@.service" "$line"; done
# These settings would hide the GPUs (/dev/nvidia*, /proc/driver/nvidia).
! grep -qE '^(PrivateDevices|DevicePolicy|DeviceAllow|ProtectClock|ProcSubset)=' "$system/jitwarm@.service" || fail "no GPU is seen"
