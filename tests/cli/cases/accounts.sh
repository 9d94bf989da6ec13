# `startup --all-users` acts for every account of this machine, and status reports no other account's cache.
is_wine && exit 0 # tests/windows/test_accounts.sh
program=$JITWARM
refused() {
	run 3 startup enable --all-users
	err_has "run it with sudo"
	run 3 startup disable --all-users
}
if ((EUID)); then
	refused
	exit 0
fi
. "$cases/../../accounts.sh"
if open=$(folder_for_all); then
	trap 'rm -rf "$open"' EXIT
	cp "$program" "$open/jitwarm" && chmod 755 "$open/jitwarm"
	JITWARM="${as_other[*]} $open/jitwarm" refused
	work=$open # the accounts can enter homes below it
fi

with_simdriver sm_86
run 0 prime --quiet "$sample"
entries=$(find "$CUDA_CACHE_PATH" -path '*/?/?/*' -type f | wc -l)
mkdir -p "$work/root/etc" "$work/homes/alice/.nv"
cp -r "$CUDA_CACHE_PATH" "$work/homes/alice/.nv/ComputeCache" && chown -R 20002 "$work/homes/alice"
unset CUDA_CACHE_PATH
export JITWARM_SYSTEM_ROOT=$work/root
printf 'root:x:0:0::/root:/bin/sh\nalice:x:20002:20002::%s:/bin/sh\n' "$work/homes/alice" >"$work/root/etc/passwd"
cached() { find "$1/.nv/ComputeCache/" -path '*/?/?/*' -type f 2>/dev/null | wc -l; }

# A program whose folder this account may not write to, and a package whose folder it may not enter
if setpriv --reuid 20001 --regid 20001 --clear-groups test -x "$program" 2>/dev/null; then
	mkdir -m 755 "$work/roots"
	mkdir "$work/hana" && chown 20001 "$work/hana"
	# A package whose folder the account may not enter is not reported as one without device code.
	environment "$work/shut" 1.0
	printf 'frame/lib/other.so,,\n' >>"$(site_of "$work/shut")/frame-1.0.dist-info/RECORD"
	chmod 700 "$(site_of "$work/shut")/frame/lib"
	cd "$work" || fail "no folder"
	JITWARM="setpriv --reuid 20001 --regid 20001 --clear-groups $program" JITWARM_STATE=$work/hana/state \
		snapshot run 3 scan --target sm_86 --environment "$work/shut" frame
	cd "$OLDPWD" || fail "no folder"
	rm -r "$work/shut"
fi

# `status` does not judge the packages of whatever Python this machine has, and does not report other accounts' caches.
empty_environment "$work/env"
export VIRTUAL_ENV=$work/env
snapshot run 0 status --json
(unset JITWARM_STATE && snapshot run 0 cache list --json --cache "$work/homes/alice/.nv/ComputeCache" && json "len(d['entries']) == $entries") || exit 1

# status recognises Linux inside Windows (WSL), and explains its cache.
run 0 status --json
json 'not d["wsl"]'
mkdir -p "$work/root/proc/sys/kernel"
printf '5.15.153.1-microsoft-standard-WSL2\n' >"$work/root/proc/sys/kernel/osrelease"
run 0 status
out_has "WSL     Windows programs use"
out_has '%APPDATA%\NVIDIA\ComputeCache'
snapshot run 0 status --json
rm -r "$work/root/proc"
unset VIRTUAL_ENV

# startup for everyone writes units for every account's manager.
mkdir -p "$work/bin"
printf '#!/bin/sh\necho "$*" >>"$0.log"\n' >"$work/bin/systemctl" && chmod +x "$work/bin/systemctl"
export PATH=$work/bin:$PATH
units=$work/root/etc/systemd/user
snapshot run 64 startup enable --all-users --service ollama
snapshot run 1 startup status --all-users
# A program is registered for everyone only if nobody else may replace it.
safe=$(folder_of_root) || skip "no folder of root's alone"
trap 'rm -rf "${open-}" "$safe"' EXIT
cp "$program" "$safe/jitwarm" && JITWARM="${JITWARM% *} $safe/jitwarm"
run 0 startup enable --all-users "$sample"
run 0 startup status --all-users
out_lacks "No run yet"
snapshot run 0 startup status
[[ $(cat "$work/bin/systemctl.log") == "--global enable jitwarm.timer jitwarm.path" ]] || fail "systemctl: $(cat "$work/bin/systemctl.log")"
grep -qF -e "--if-changed -- \"$sample\"" "$units/jitwarm.service" || fail "no unit"
if command -v systemd-analyze >/dev/null; then
	(cd "$units" && SYSTEMD_UNIT_PATH=$units: systemd-analyze --user verify ./jitwarm.service ./jitwarm.timer ./jitwarm.path) >"$work/verify" 2>&1
	! grep -q "jitwarm[a-z-]*\.[a-z]*:" "$work/verify" || fail "systemd-analyze: $(cat "$work/verify")"
fi
run 0 startup disable --all-users
[[ -z $(find "$units" -type f) ]] || fail "units are left"
printf '[Timer]\n' >"$units/jitwarm.timer"
snapshot run 3 startup enable --all-users
rm "$units/jitwarm.timer"
run 0 startup enable --all-users "$sample" package-of-theirs
before=$(cached "$work/homes/alice")
run 0 uninstall
[[ $(cached "$work/homes/alice") == "$before" ]] || fail "alice's cache"
[[ -z $(find "$units" -type f) ]] || fail "uninstall leaves units of everyone's"
