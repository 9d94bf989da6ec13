# `import --all-users` and `startup --all-users` act for every account of this machine with that account's own rights.
run 64 import --all-users --cache "$(native "$work/cache")" x.jwpack
err_has "it cannot be combined with --cache"
is_wine && exit 0 # Windows' accounts are not in /etc/passwd: tests/windows/test_accounts.sh
program=$JITWARM
refused() {
	run 3 import --all-users x.jwpack
	err_has "run it with sudo"
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
run 0 export -o "$work/a.jwpack" --json
entries=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["entries"])' "$out")
unset CUDA_CACHE_PATH

# The machine has three people, three whose folders hold symlinks, a service's account, and one account without a folder.
export JITWARM_SYSTEM_ROOT=$work/root
mkdir -p "$work/root/etc" "$work/homes" "$work/treasure"
printf '# shadow\nUID_MIN\t20000\n UID_MAX 29999\nSUB_UID_MIN 1\n' >"$work/root/etc/login.defs"
account() { # NAME NUMBER
	printf '%s:x:%s:%s::%s:/bin/sh\n' "$1" "$2" "$2" "$work/homes/$1" >>"$work/root/etc/passwd"
	mkdir -p "$work/homes/$1/.nv/ComputeCache"
}
printf 'root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/bin/sh\nghost:x:20009:20009::%s:/bin/sh\n' "$work/homes/ghost" >"$work/root/etc/passwd"
account svc 300
account 하나 20001
account alice 20002
rm -r "$work/homes/alice/.nv"
account into-root 20003
rmdir "$work/homes/into-root/.nv/ComputeCache" && ln -s "$work/treasure" "$work/homes/into-root/.nv/ComputeCache"
account into-file 20004
printf 'precious' >"$work/treasure/file" && ln -s "$work/treasure/file" "$work/homes/into-file/.nv/ComputeCache/index"
account into-alice 20005
rm -r "$work/homes/into-alice/.nv" && ln -s "$work/homes/alice/.nv" "$work/homes/into-alice/.nv"
account big 20006
chmod 700 "$work/homes"/*
while IFS=: read -r name _ number _; do
	[[ ! -d $work/homes/$name ]] || chown -hR "$number:$number" "$work/homes/$name"
done <"$work/root/etc/passwd"
cached() { find "$1/.nv/ComputeCache/" -path '*/?/?/*' -type f 2>/dev/null | wc -l; }

# An error of the pack is reported once, and no account gets entries of it.
run 3 import --all-users "$work/a.jwpack"
err_one_line
[[ $(cached "$work/homes/하나") == 0 ]] || fail "an unsigned pack was imported"
run 3 import --all-users --allow-unsigned "$work/nosuch.jwpack"
err_one_line

# A dry run writes nothing, and predicts the result for each account, also for accounts whose symlinks lead to others' files, whose folder
# is root's, whose cache has a folder of root's inside, who may only read, or who have a symlink to nowhere.
spoil() { # NAME NUMBER: beside the others, for this part alone
	account "$@"
	chmod 700 "$work/homes/$1"
	chown -R "$2:$2" "$work/homes/$1"
}
before=$(wc -l <"$work/root/etc/passwd")
spoil of-root 20101 && chown -R 0:0 "$work/homes/of-root"
spoil half-of-root 20102 && for part in {0..9} {a..f}; do mkdir "$work/homes/half-of-root/.nv/ComputeCache/$part"; done
spoil read-only 20103 && chmod 500 "$work/homes/read-only/.nv/ComputeCache"
spoil to-nowhere 20104 && rm -r "$work/homes/to-nowhere/.nv" && ln -s nosuch "$work/homes/to-nowhere/.nv"
spoil with-file 20105 && rm -r "$work/homes/with-file/.nv" && printf x >"$work/homes/with-file/.nv"
chown -h 20104 "$work/homes/to-nowhere/.nv" && chown 20105 "$work/homes/with-file/.nv"
find "$work/homes" "$work/treasure" -printf '%p %u %m %s %l\n' | sort >"$work/before"
run 1 import --all-users --allow-unsigned --dry-run --json "$work/a.jwpack"
find "$work/homes" "$work/treasure" -printf '%p %u %m %s %l\n' | sort | diff "$work/before" - || fail "a dry run has changed something"
foretold=$(python3 -c 'import json, sys
for a in json.load(open(sys.argv[1]))["accounts"]:
    print(a["account"], "failed" if "failed" in a else a["import"]["accepted"])' "$out")
[[ $foretold == "하나 $entries
alice $entries
into-root failed
into-file failed
into-alice failed
big $entries
of-root failed
half-of-root failed
read-only failed
to-nowhere failed
with-file failed" ]] || fail "foretold: $foretold"
run 1 import --all-users --allow-unsigned -n "$work/a.jwpack"
out_has "$entries entries would be added"
err_has "half-of-root: $work/homes/half-of-root/.nv/ComputeCache/0: Permission denied"
err_has "to-nowhere: $work/homes/to-nowhere/.nv: is a symlink to a file that does not exist"
err_has "with-file: $work/homes/with-file/.nv: not a directory"
# The real run has the predicted results.
cp -a "$work/homes" "$work/tried"
sed "s,$work/homes/,$work/tried/,; /alice/d" -i.kept "$work/root/etc/passwd"
run 1 import --all-users --allow-unsigned --json "$work/a.jwpack"
[[ $(python3 -c 'import json, sys
for a in json.load(open(sys.argv[1]))["accounts"]:
    print(a["account"], "failed" if "failed" in a else a["import"]["accepted"])' "$out") == "$(grep -v alice <<<"$foretold")" ]] || fail "it was foretold otherwise"
head -n "$before" "$work/root/etc/passwd.kept" >"$work/root/etc/passwd"
rm -r "$work/tried" "$work/homes"/{of-root,half-of-root,read-only,to-nowhere,with-file}
# The program is one that no other account may write to; the command is without --all-users.
if setpriv --reuid 20001 --regid 20001 --clear-groups test -x "$program" 2>/dev/null; then
	mkdir -m 755 "$work/roots"
	JITWARM="setpriv --reuid 20001 --regid 20001 --clear-groups $program" JITWARM_STATE=$work/homes/하나/state \
		run 3 import --allow-unsigned --dry-run --as-is --cache "$work/roots/cache" "$work/a.jwpack"
	err_has "$work/roots: Permission denied"
	err_one_line
	# A package whose folder the account may not enter is not reported as one without device code.
	environment "$work/shut" 1.0
	printf 'frame/lib/other.so,,\n' >>"$(site_of "$work/shut")/frame-1.0.dist-info/RECORD"
	chmod 700 "$(site_of "$work/shut")/frame/lib"
	cd "$work" || fail "no folder"
	JITWARM="setpriv --reuid 20001 --regid 20001 --clear-groups $program" JITWARM_STATE=$work/homes/하나/state \
		run 3 scan --target sm_86 --environment "$work/shut" frame
	err_has "$frame_library: Permission denied"
	err_lacks "other.so"
	cd "$OLDPWD" || fail "no folder"
	rm -r "$work/shut"
fi

run 1 import --all-users --allow-unsigned "$work/a.jwpack"
for name in 하나 alice big; do
	out_has "$work/homes/$name/.nv/ComputeCache"
	[[ $(cached "$work/homes/$name") == "$entries" ]] || fail "$name has $(cached "$work/homes/$name") of $entries entries"
	strangers=$(find "$work/homes/$name" -not -user "$(stat -c %u "$work/homes/$name")")
	[[ -z $strangers ]] || fail "not $name's own: $strangers"
done
for name in into-root into-file into-alice; do
	err_has "$name: "
done
[[ $(cd "$work/treasure" && find . -type f -printf '%p ') == "./file " && $(cat "$work/treasure/file") == precious ]] || fail "the treasure: $(find "$work/treasure")"
[[ -z $(find "$work/homes" -mindepth 1 -user 0) ]] || fail "root's: $(find "$work/homes" -mindepth 1 -user 0)"

run 1 import --all-users --allow-unsigned --json "$work/a.jwpack"
json 'd["schema"] == "jitwarm.import-all/1" and [a["account"] for a in d["accounts"]] == ["하나", "alice", "into-root", "into-file", "into-alice", "big"]'
json "[a['import']['there'] for a in d['accounts'] if 'import' in a] == [$entries] * 3 and all('failed' in a for a in d['accounts'][2:5])"
CUDA_CACHE_PATH=/x run 1 import --all-users --allow-unsigned --dry-run "$work/a.jwpack"
err_has "CUDA_CACHE_PATH is set"
sed -i '/into-/d' "$work/root/etc/passwd"
run 0 import --all-users --allow-unsigned "$work/a.jwpack"
sed -i '/20[0-9]*:/d' "$work/root/etc/passwd"
run 3 import --all-users --allow-unsigned "$work/a.jwpack"
err_has "no user's account on this machine has a home directory"

# `status` does not judge the packages of whatever Python this machine has, and does not report other accounts' caches.
empty_environment "$work/env"
export VIRTUAL_ENV=$work/env
run 0 status --json
json '"others" not in d'
(unset JITWARM_STATE && run 0 cache list --json --cache "$work/homes/alice/.nv/ComputeCache" && json "len(d['entries']) == $entries") || exit 1

# status recognises Linux inside Windows (WSL), and explains its cache.
run 0 status --json
json 'not d["wsl"]'
mkdir -p "$work/root/proc/sys/kernel"
printf '5.15.153.1-microsoft-standard-WSL2\n' >"$work/root/proc/sys/kernel/osrelease"
run 0 status
out_has "WSL     Linux inside Windows"
out_has '%APPDATA%\NVIDIA\ComputeCache'
run 0 status --json
json 'd["wsl"]'
rm -r "$work/root/proc"
unset VIRTUAL_ENV

# startup for everyone writes units for every account's manager.
mkdir -p "$work/bin"
printf '#!/bin/sh\necho "$*" >>"$0.log"\n' >"$work/bin/systemctl" && chmod +x "$work/bin/systemctl"
export PATH=$work/bin:$PATH
units=$work/root/etc/systemd/user
run 64 startup enable --all-users --service ollama
run 1 startup status --all-users
# A program is registered for everyone only if nobody else may replace it.
safe=$(folder_of_root) || skip "no folder of root's alone"
trap 'rm -rf "${open-}" "$safe"' EXIT
cp "$program" "$safe/jitwarm" && JITWARM="${JITWARM% *} $safe/jitwarm"
run 0 startup enable --all-users "$sample"
run 0 startup status --all-users
out_lacks "No run yet"
run 0 startup status
[[ $(cat "$work/bin/systemctl.log") == "--global enable jitwarm.timer jitwarm.path" ]] || fail "systemctl: $(cat "$work/bin/systemctl.log")"
grep -qF -e "--if-changed -- \"$sample\"" "$units/jitwarm.service" || fail "no unit"
if command -v systemd-analyze >/dev/null; then
	(cd "$units" && SYSTEMD_UNIT_PATH=$units: systemd-analyze --user verify ./jitwarm.service ./jitwarm-ahead.service ./jitwarm.timer ./jitwarm.path) >"$work/verify" 2>&1
	! grep -q "jitwarm[a-z-]*\.[a-z]*:" "$work/verify" || fail "systemd-analyze: $(cat "$work/verify")"
fi
run 0 startup disable --all-users
[[ -z $(find "$units" -type f) ]] || fail "units are left"
printf '[Timer]\n' >"$units/jitwarm.timer"
run 3 startup enable --all-users
err_has "not made by jitwarm"
rm "$units/jitwarm.timer"
run 0 startup enable --all-users "$sample" package-of-theirs
account alice 20002
before=$(cached "$work/homes/alice")
run 0 uninstall
[[ $(cached "$work/homes/alice") == "$before" ]] || fail "alice's cache"
[[ -z $(find "$units" -type f) ]] || fail "uninstall leaves units of everyone's"
