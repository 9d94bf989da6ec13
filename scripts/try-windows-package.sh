#!/bin/bash
# try-windows-package.sh [BUILD [PART]]   installs, upgrades and removes the Windows packages under Wine (needs nsis, wixl, msitools, osslsigncode)
# try-windows-package.sh BUILD files FOLDER   installs those that scripts/package.sh has made: each prints its version, scans and checks
#
# BUILD is a Windows build (default: build/windows; scripts/build-windows.sh). Two versions of each package are made of it, and
# signed with a certificate made here. For the installer (one account, all accounts) and the MSI package, in a new home of Wine's:
# install without a window; prime, tune, a task; upgrade; remove. The account must keep what it had (the driver's cache, keys,
# Path to the byte), and no trace may be left in the registry and on the disk. PART is one of account, path, all, msi, rest.
# Exit status: 0; 1 something failed; 77 skipped: something that it needs is missing, and is named.
part=${2:-}
build=$(realpath "${1:-$(dirname "$0")/../build/windows}") || exit 77
[ "$part" != files ] || files=$(realpath "${3-}") || exit 64
for tool in makensis wixl msibuild osslsigncode openssl wine; do
	command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
export JITWARM_WINE_USER='이 나리' JITWARM_PACKAGE_FAST=1
rm -rf "$build/wine/$JITWARM_WINE_USER"
# shellcheck source=tests/windows/lib.sh disable=SC2154
. "$(dirname "$0")/../tests/windows/lib.sh" "$build"
versions=(9.1.0 9.10.0)
state=$home/AppData/Local/jitwarm

win() { under "$gpus" "$@"; exits 0 "$@"; }
# gone FILE: the loaders of msiexec and of the uninstaller's copy may end before these programs do
gone() {
	local turn
	for turn in $(seq 300); do [ -e "$1" ] || return 0; sleep 0.1; done
	fail "$1 is still there"
}
# traces: lists Wine's registry and disk, except what every program changes
traces() {
	env WINEPREFIX="$build/wine/$user" wineserver -w >/dev/null 2>&1 || true
	(cd "$build/wine/$user/drive_c" && find . -iname '*jitwarm*' ! -path '*/AppData/Local/jitwarm/keys*' | LC_ALL=C sort)
	grep -aiE 'jitwarm' "$build/wine/$user"/*.reg || true
}
# path_of KEY: prints its Path, with its type
path_of() {
	under "$gpus" reg export "$1" "$(windows_path "$work/exported.reg")" /y
	python3 -I - "$work/exported.reg" <<'PYTHON'
import re, sys
text = open(sys.argv[1], encoding="utf-16").read().replace("\\\n", "").replace("\\\r\n", "")
for kind, value in re.findall(r'^"path"=(hex\(2\):)?(.*)$', text, re.I | re.M) or [("", "none")]:
    print(kind, bytes.fromhex(re.sub(r"[^0-9a-f]", "", value)).decode("utf-16-le").rstrip("\0") if kind else value)
PYTHON
}
machine_path='HKLM\System\CurrentControlSet\Control\Session Manager\Environment'

certificate() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/certificate.pem" -days 30 -subj '/CN=jitwarm test' \
		-addext extendedKeyUsage=codeSigning >"$out" 2>&1 || fail openssl
	printf 'a password' >"$work/password"
	openssl pkcs12 -export -inkey "$work/key.pem" -in "$work/certificate.pem" -passout "file:$work/password" -out "$work/key.pfx" || fail openssl
	export JITWARM_PFX=$work/key.pfx JITWARM_PFX_PASSWORD=$work/password
}
signature() { osslsigncode verify -CAfile "$work/certificate.pem" -in "$1" >"$out" 2>&1; }
made() { # VERSION OPTION...
	JITWARM_PACKAGE_VERSION=$1 "$root/scripts/package-windows.sh" --installers -B "$build" -o "$work/$1" "${@:2}" >"$out" 2>"$err" || fail "package-windows.sh for $1"
}
package() { printf '%s/%s/jitwarm-%s-windows-x64%s' "$work" "$1" "$1" "$2"; }

# The package is installed from the file alone.
if [ -n "${files-}" ]; then
	in_account=$home/AppData/Local/Programs/jitwarm in_machine="$build/wine/$user/drive_c/Program Files/jitwarm"
	version=$(cd "$root" && . scripts/lib.sh && release_version)
	unpack() { mkdir "$work/$1" && python3 -I -m zipfile -e "$2" "$work/$1"; }
	answers() { # PACKAGE PROGRAM
		win "$2" --version
		says "jitwarm $version"
		win "$2" scan --target sm_86 "$(windows_path "$sample_dll")"
		says "up to 8 modules"
		under "$gpus" "$2" check "$(windows_path "$sample_dll")"
		exits 1 "check of the $1"
		echo "$1: says its version, scans, checks"
	}
	win cmd /c exit
	unpack zip "$files/jitwarm-$version-windows-x64.zip"
	answers "ZIP file" "$work/zip/jitwarm.exe"
	unpack wheel "$files/jitwarm-$version-py3-none-win_amd64.whl"
	answers wheel "$work/wheel/jitwarm-$version.data/scripts/jitwarm.exe"
	win "$files/jitwarm-$version-windows-x64-setup.exe" /S
	answers installer "$in_account/jitwarm.exe"
	win "$in_account/uninstall.exe" /S
	win msiexec /i "$(windows_path "$files/jitwarm-$version-windows-x64.msi")" /qn
	answers MSI "$in_machine/jitwarm.exe"
	win msiexec /x "$(windows_path "$files/jitwarm-$version-windows-x64.msi")" /qn
	gone "$in_account"
	gone "$in_machine"
	exit
fi

certificate
made 9.1.0 --sign "$root/scripts/package-windows.sh sign"
made 9.10.0
mkdir "$work/zip" && python3 -I -m zipfile -e "$(package 9.1.0 .zip)" "$work/zip"
for file in "$(package 9.1.0 -setup.exe)" "$(package 9.1.0 .msi)" "$work/zip/jitwarm.exe" "$work/zip/jitwarmw.exe"; do
	signature "$file" || fail "the signature of $file"
done
printf 'x' | dd of="$work/zip/jitwarm.exe" bs=1 seek=4096 conv=notrunc 2>/dev/null
! signature "$work/zip/jitwarm.exe" || fail "a changed program has a signature"
! signature "$(package 9.10.0 -setup.exe)" || fail "what was not signed has a signature"
cp "$(package 9.10.0 .zip)" "$work/wrong.exe"
! "$root/scripts/package-windows.sh" sign "$work/wrong.exe" >"$out" 2>&1 && cmp -s "$work/wrong.exe" "$(package 9.10.0 .zip)" || fail "a file that is no program was signed"
echo "signed, and two versions packed"

win cmd /c exit
stand_in_for_schtasks
# own: lists what the account has: the driver's cache and keys
own() { (cd "$home" && find AppData/Roaming/NVIDIA AppData/Local/jitwarm/keys -type f ! -name jitwarm -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0 -r sha256sum); }

# The Task Scheduler's replacement keeps its calls beside the tasks.
tasks_now() { (cd "$tasks" && find . -name '*.xml'); }

# tried NAME PROGRAM-FOLDER INSTALL UPGRADE REMOVE [Path's KEY]: the three are functions
tried() {
	local name=$1 folder=$2 install=$3 upgrade=$4 remove=$5 key=$6 before path mine tasks_before
	before=$(traces) path=$(path_of "$key")
	$install
	local exe=$folder/jitwarm.exe
	[ -x "$exe" ] && [ -s "$folder/jitwarmw.exe" ] && [ -s "$folder/LICENSE.txt" ] || fail "$name: nothing is installed in $folder"
	signature "$exe" || fail "$name: the signature of the installed program"
	[ "$(path_of "$key")" != "$path" ] || fail "$name: Path is as it was"
	under "$gpus" cmd /c jitwarm --version
	exits 0 "$name: jitwarm by Path"
	under "$gpus" "$exe" check "$(windows_path "$sample_dll")"
	exits 1 "$name: cold"
	win "$exe" prime "$(windows_path "$sample_dll")"
	win "$exe" check "$(windows_path "$sample_dll")"
	win "$exe" key generate
	win "$exe" tune --apply --scope user --max-size 4G
	win "$exe" startup enable "$(windows_path "$sample_dll")"
	[ -n "$(tasks_now)" ] || fail "$name: no task"
	mine=$(own) tasks_before=$(tasks_now)
	[ "$(wc -l <<<"$mine")" -gt 5 ] || fail "$name: there is nothing to keep"
	$upgrade
	[ "$(own)" = "$mine" ] && [ "$(tasks_now)" = "$tasks_before" ] || fail "$name: the upgrade changed what the account has"
	[ -s "$state/keys/default.key" ] || fail "$name: the upgrade removed state"
	win "$exe" check "$(windows_path "$sample_dll")"
	! signature "$exe" || fail "$name: it is still the former version"
	$remove
	gone "$folder"
	[ "$(own)" = "$mine" ] || fail "$name: the removal changed what the account has"
	[ -z "$(tasks_now)" ] || fail "$name: left a task"
	# Wine's MSI leaves the semicolons in between.
	diff <(path_of "$key" | if [ "$name" = MSI ]; then sed 's/;*$//'; else cat; fi) <(echo "$path") >"$out" || fail "$name: Path"
	rm -rf "$home/AppData/Roaming/NVIDIA" "$state"
	diff <(echo "$before") <(echo "$(traces)") >"$out" || fail "$name: left behind"
	echo "$name: installed, primed, upgraded, removed"
}
setup() { win "$(package "$1" -setup.exe)" /S "${@:2}"; }
in_account=$home/AppData/Local/Programs/jitwarm in_machine="$build/wine/$user/drive_c/Program Files/jitwarm"
account_install() { setup 9.1.0; }
account_upgrade() { setup 9.10.0; }
account_remove() { win "$in_account/uninstall.exe" /S; }
all_install() { setup 9.1.0 /AllUsers; }
all_upgrade() { setup 9.10.0 /AllUsers; }
all_remove() { win "$in_machine/uninstall.exe" /S; }
msi_install() { win msiexec /i "$(windows_path "$(package 9.1.0 .msi)")" /qn; }
# Windows removes the former product in a way that its scripts can see (UPGRADINGPRODUCTCODE); Wine does not set that property.
msi_upgrade() {
	win msiexec /x "$(windows_path "$(package 9.1.0 .msi)")" /qn 'UPGRADINGPRODUCTCODE={00000000-0000-0000-0000-000000000001}'
	win msiexec /i "$(windows_path "$(package 9.10.0 .msi)")" /qn
}
msi_remove() { win msiexec /x "$(windows_path "$(package 9.10.0 .msi)")" /qn; }

wanted() { [ -z "$part" ] || [ "$part" = "$1" ]; }
try_account() { tried "installer, one account" "$in_account" account_install account_upgrade account_remove 'HKCU\Environment'; }
# The Path is longer than a string of the installer's, contains a variable, and ends with a semicolon.
try_path() {
	long=$(printf 'C:\\folder %03d;' $(seq 200))
	win reg add 'HKCU\Environment' /v Path /t REG_EXPAND_SZ /d "%USERPROFILE%\\x;$long" /f
	path=$(path_of 'HKCU\Environment')
	account_install
	long_path=$(path_of 'HKCU\Environment')
	[ ${#long_path} -gt ${#path} ] || fail "a long Path is not longer"
	account_upgrade
	[ "$(path_of 'HKCU\Environment')" = "$long_path" ] || fail "the upgrade changed Path"
	account_remove
	gone "$in_account"
	[ "$(path_of 'HKCU\Environment')" = "$path" ] || fail "a long Path was not restored"
	win reg delete 'HKCU\Environment' /v Path /f
	echo "installer, one account: a long Path"
}
try_all() { tried "installer, all accounts" "$in_machine" all_install all_upgrade all_remove "$machine_path"; }
try_msi() {
	tried "MSI" "$in_machine" msi_install msi_upgrade msi_remove "$machine_path"
	# One product replaces the other.
	msi_install
	win msiexec /i "$(windows_path "$(package 9.10.0 .msi)")" /qn
	! signature "$in_machine/jitwarm.exe" || fail "MSI: it is still the former version"
	under "$gpus" reg query 'HKLM\Software\Microsoft\Windows\CurrentVersion\Uninstall' /s /f 9.1.0 /e
	! grep -q 9.1.0 "$out" || fail "MSI: two versions are installed"
	msi_remove
	gone "$in_machine"
}

# Some state is kept, and a Path is left alone.
try_rest() {
	path=$(path_of 'HKCU\Environment')
	setup 9.1.0 /NoPath
	[ "$(path_of 'HKCU\Environment')" = "$path" ] || fail '/NoPath'
	win "$in_account/jitwarm.exe" tune --apply --scope user --max-size 4G
	win "$in_account/jitwarm.exe" startup enable "$(windows_path "$sample_dll")"
	win "$in_account/uninstall.exe" /S /KeepState
	gone "$in_account"
	[ -d "$state" ] && [ -z "$(tasks_now)" ] || fail '/KeepState'
	# A program is running while it is removed: the next start of Windows removes no part of the next installation.
	setup 9.1.0 /AllUsers
	: >"$work/gate"
	SIMDRIVER_GATE=$(windows_path "$work/gate") SIMDRIVER_FAULT=wait:sample_network SIMDRIVER_LOG=$(windows_path "$work/log") \
		"$root/scripts/with-simdriver.sh" -B "$build" -w -u "$user" "$gpus" -- "$in_machine/jitwarm.exe" prime "$(windows_path "$sample_dll")" >/dev/null 2>&1 &
	running=$!
	until [ -s "$work/log" ]; do kill -0 $running || fail "prime has ended"; sleep 0.2; done
	win "$in_machine/uninstall.exe" /S
	gone "$in_machine/uninstall.exe"
	under "$gpus" reg query 'HKLM\System\CurrentControlSet\Control\Session Manager' /v PendingFileRenameOperations
	rm "$work/gate"
	wait $running || true
	grep -q 'jitwarm.exe.old' "$out" || fail "nothing removes what ran"
	grep -qE 'jitwarm(\\|$)' "$out" || fail "nothing removes the folder"
	! grep -qE '(jitwarmw?|uninstall)\.exe(\\|$)' "$out" || fail "the next installation will be removed"
	rm -rf "$in_machine" "$state" "$home/AppData/Roaming/NVIDIA"
	# Without administrator's rights, “all accounts” ends before anything is written.
	under "$gpus" "$build/tests/windows/lesser.exe" "$(windows_path "$(package 9.1.0 -setup.exe)")" /S /AllUsers
	[ "$status" != 0 ] && [ ! -e "$in_machine" ] || fail "not elevated: status $status"
}
for one in account path all msi rest; do if wanted $one; then try_$one; fi; done
echo "passed"
