# startup writes units that systemd accepts, undoes failed steps, and leaves other programs' units alone.
is_wine && skip "Windows has a task instead of units: tests/windows/test_startup.sh"
differs_for ACCOUNT # whose program stays in the build folder
unset XDG_CONFIG_HOME
units=$HOME/.config/systemd/user
mkdir -p "$work/bin"
# Root passes few variables on, so a file tells it to fail.
failing() { touch "$work/bin/fails" && "$@" && rm "$work/bin/fails"; }
cat >"$work/bin/systemctl" <<'SCRIPT'
#!/bin/sh
folder=$(dirname "$0")
echo "$*" >>"$0.log"
case $* in # it makes links also without a manager
"enable jitwarm@"*) wants=$folder/../root/etc/systemd/system/$(expr "$2" : 'jitwarm@\(.*\)').wants && mkdir -p "$wants" && ln -sf ../jitwarm@.service "$wants/$2" ;;
"--global enable"*) wants=$folder/../root/etc/systemd/user/timers.target.wants && mkdir -p "$wants" && ln -sf ../jitwarm.timer "$wants/jitwarm.timer" ;;
esac
[ ! -e "$folder/fails" ] || { echo "Failed to connect to bus" >&2; exit 1; }
SCRIPT
chmod +x "$work/bin/systemctl"
export PATH=$work/bin:$PATH JITWARM_SYSTEM_ROOT=$work/root XDG_RUNTIME_DIR=$work/run
mkdir -m 700 "$work/run"
site=$work/venv/lib/python3.11/site-packages
empty_environment "$work/venv"
# This machine has neither a driver nor code, so these steps are not run.
for step in "" " frame" " other" " /usr/lib/ollama"; do checked_steps[run jitwarm prime --if-changed$step]=1; done
for name in frame other; do dist_info "$site" $name 1.2; done
mkdir -p "$work/root/etc/systemd/system"
# verified: systemd has no complaint about this account's units
verified() {
	command -v systemd-analyze >/dev/null || return 0
	(cd "$units" && SYSTEMD_UNIT_PATH=$units: systemd-analyze --user verify ./jitwarm.service ./jitwarm.timer ./jitwarm.path) >"$work/verify" 2>&1 || fail "systemd-analyze: $(cat "$work/verify")"
	! grep -q "jitwarm[a-z-]*\.[a-z]*:" "$work/verify" || fail "systemd-analyze: $(cat "$work/verify")"
}

run 1 startup status
out_has "Automatic priming is off on this machine: “jitwarm startup enable” turns it on."
out_lacks "missing"
snapshot run 0 startup disable
snapshot run 3 startup enable --print no-such-package
snapshot run 0 startup enable --print "$site"
[[ ! -e $units ]] || fail "--print writes"
export VIRTUAL_ENV=$work/venv
# A name that leads to nothing now would do so after each logon, so it is refused.
for name in fraem "frame>=2" "$work/nosuch"; do
	run 3 check "$name"
	cp "$err" "$work/refusal"
	run 3 startup enable frame "$name"
	diff "$err" "$work/refusal" || fail "not check's words"
done
[[ ! -e $HOME/.config && ! -e $work/bin/systemctl.log ]] || fail "a name that is refused leaves units"
# If the system refuses a step, the former ones are undone.
snapshot failing run 3 startup enable frame
[[ ! -e $HOME/.config/systemd ]] || fail "left: $(find "$HOME/.config")"
run 1 startup status
out_lacks "installed"
run 0 startup enable frame
out_has "jitwarm runs two minutes after each logon" "The program that runs is $JITWARM: "
cp -r "$units" "$work/former"
snapshot failing run 3 startup enable other
diff -r "$units" "$work/former" || fail "another text is left"
# The program lies in a folder that is emptied regularly.
mkdir -p "$work/downloads" && cp "$JITWARM" "$work/downloads/"
JITWARM=$work/downloads/jitwarm snapshot run 0 startup enable frame
# systemd starts no program with such a path, however it is quoted; with others it does. What was set up can be removed from there.
placed() { mkdir -p "$work/$1" && cp "$program" "$work/$1/" && ln -sf "$work/$1/jitwarm" "$work/placed"; }
program=$JITWARM
for folder in 'a"b' "a'b" 'a\b' $'a\nb'; do
	placed "$folder"
	for print in "" --print; do
		# shellcheck disable=SC2086
		JITWARM=$work/placed snapshot run 2 startup enable $print frame
	done
done
JITWARM=$work/placed run 0 startup status
JITWARM=$work/placed run 0 startup disable
placed "100% \$x %h 김;b"
odd=$work/$'say "b" \\ \'c\' \n%h $x \xff'
ln -s venv "$odd"
VIRTUAL_ENV=$odd JITWARM=$work/placed snapshot run 0 startup enable frame
verified
rm -r "$work"/a?b "$work/100"* "$odd" "$work/placed"
# Packages that cannot be examined are reported, since they would go unwatched, and do not prevent removal.
mkdir "$work/loop" && ln -s lib "$work/loop/lib" && : >"$work/loop/pyvenv.cfg"
for action in enable status; do VIRTUAL_ENV=$work/loop snapshot run 3 startup $action; done
VIRTUAL_ENV=$work/loop run 0 startup disable
run 0 startup enable frame
grep -q AF_INET "$units"/* && fail "a unit reaches the network"
snapshot run 0 startup status --json
grep -q -e "--environment \"$work/venv\" -- \"frame\"" "$units/jitwarm.service" || fail "the environment is not named"
grep -q "PathModified=$site" "$units/jitwarm.path" || fail "packages are not watched"
grep -q -e '--user enable --now jitwarm.timer jitwarm.path' "$work/bin/systemctl.log" || fail "not enabled"
verified

# The manager does not answer after it has made its links: they are removed with the units, and so are empty folders.
mkdir -p "$units/timers.target.wants" "$units/default.target.wants"
ln -s ../jitwarm.timer "$units/timers.target.wants/jitwarm.timer"
ln -s ../jitwarm.path "$units/default.target.wants/jitwarm.path"
ln -s ../other.service "$units/default.target.wants/other.service"
snapshot failing run 0 startup disable
[[ $(cd "$HOME/.config" && find . -mindepth 1 | sort | tr '\n' ' ') == "./systemd ./systemd/user ./systemd/user/default.target.wants ./systemd/user/default.target.wants/other.service " ]] || fail "left: $(find "$HOME/.config")"
rm -r "$units/default.target.wants"
run 0 startup enable frame
snapshot failing run 0 uninstall
[[ ! -e $HOME/.config/systemd ]] || fail "left: $(find "$HOME/.config")"
if ((EUID == 0)) && setpriv --reuid 20001 --regid 20001 --clear-groups test -x "$JITWARM" 2>/dev/null; then
	mkdir -m 777 "$work/theirs"
	chmod 755 "$work"
	HOME=$work/theirs JITWARM_STATE=$work/theirs/state JITWARM="setpriv --reuid 20001 --regid 20001 --clear-groups $JITWARM" \
		snapshot run 3 startup enable --service ollama
fi

# System units: root registers only a program that nobody else may replace.
if ((EUID == 0)); then
	. "$cases/../../accounts.sh"
	safe=$(folder_of_root) || skip "no folder of root's alone"
	trap 'rm -rf "$safe"' EXIT
	cp "$JITWARM" "$safe/jitwarm" && JITWARM=$safe/jitwarm
fi
snapshot failing run 3 startup enable --service ollama --account ollama /usr/lib/ollama
[[ -z $(ls "$work/root/etc/systemd/system") ]] || fail "left: $(find "$work/root/etc/systemd/system")"
# A leftover link of a unit is found, also that of a service without a unit.
for by in "startup disable --service ollama" uninstall; do
	mkdir "$work/root/etc/systemd/system/ollama.service.wants"
	ln -s /etc/systemd/system/jitwarm@.service "$work/root/etc/systemd/system/ollama.service.wants/jitwarm@ollama.service"
	if [[ $by == uninstall ]]; then
		((EUID == 0)) || break
		snapshot run 0 uninstall --dry-run
	fi
	# shellcheck disable=SC2086
	snapshot run 0 $by
	[[ -z $(ls "$work/root/etc/systemd/system") ]] || fail "$by: left: $(find "$work/root/etc/systemd/system")"
done
rm -rf "$work/root/etc/systemd/system/ollama.service.wants"
snapshot run 0 startup enable --service ollama --account ollama /usr/lib/ollama package-of-its-environment
snapshot run 0 startup status --service ollama
snapshot run 64 startup enable --service ../x
system=$work/root/etc/systemd/system
grep -q '^User=ollama' "$system/jitwarm@ollama.service.d/60-jitwarm.conf" || fail "not the service's account"
grep -q '^Before=%i.service' "$system/jitwarm@.service" || fail "not ordered before the service"
if command -v systemd-analyze >/dev/null && ((EUID == 0)); then
	SYSTEMD_UNIT_PATH=$system: systemd-analyze verify "$system/jitwarm@ollama.service" >"$work/verify" 2>&1
	! grep -q "jitwarm@[a-z]*\.service:" "$work/verify" || fail "systemd-analyze: $(cat "$work/verify")"
fi
# The template stays as long as another service uses it.
snapshot run 0 startup enable --service vllm --account vllm /usr/lib/vllm
run 0 startup disable --service vllm
[[ -s $system/jitwarm@.service && -s $system/jitwarm@ollama.service.d/60-jitwarm.conf && ! -e $system/jitwarm@vllm.service.d ]] ||
	fail "not only vllm's units went: $(find "$system" -type f)"
run 0 startup disable --service ollama
[[ -z $(find "$system" -type f) ]] || fail "units of the system are left"
# If somebody has removed all units of services, the template goes, too.
run 0 startup enable --service ollama --account ollama /usr/lib/ollama
rm "$system/jitwarm@ollama.service.d/60-jitwarm.conf"
run 0 startup disable --service ollama
[[ -z $(ls "$system") ]] || fail "left: $(find "$system")"
# --all-users is promised only if systemd runs, and each account sees it.
if ((EUID == 0)); then
	snapshot run 0 startup enable --all-users frame
	run 0 startup status
	out_has "installed      $work/root/etc/systemd/user/jitwarm.timer" "An administrator has enabled automatic priming for all accounts."
	out_lacks "Automatic priming is off"
	snapshot run 0 startup status --json
	mkdir -p "$work/root/run/systemd/system"
	snapshot run 0 startup enable --all-users frame
	run 0 startup disable --all-users
	[[ -z $(ls "$work/root/etc/systemd/user") ]] || fail "left: $(find "$work/root/etc/systemd/user")"
	snapshot run 1 startup status --json
fi

# Other programs' units stay, and a system that does not answer is reported.
run 0 startup enable frame
run 0 startup disable
out_has "removed        $units/jitwarm.path"
out_lacks "missing"
[[ ! -e $units ]] || fail "units are left"
mkdir -p "$units"
printf '[Service]\nExecStart=/bin/true\n' >"$units/jitwarm.service"
run 3 startup enable
err_has "not made by jitwarm"
snapshot run 0 startup disable
[[ -s $units/jitwarm.service ]] || fail "somebody else's unit was removed"
snapshot run 0 startup enable --replace
snapshot failing run 3 startup enable
