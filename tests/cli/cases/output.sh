# Output that cannot be written is a failure. Escape sequences appear only on terminals.
run_to_full_disk --help
[[ $? == 3 ]] || fail "a full disk went unnoticed"
err_has "standard output"
# It is a failure also if the disk was full before other lines were printed.
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >k.ptx
run_to_full_disk check --target sm_86 k.ptx
[[ $? == 3 ]] || fail "a full disk went unnoticed"
is_wine || err_has "standard output: No space left on device"
TERM=xterm run 0 --help
out_lacks $'\x1b'
differs_for WINDOWS snapshot run 64 $'no\x1bsuch'
err_lacks $'\x1b'

# Without a UTF-8 locale, messages and help are ASCII, but file names stay.
ascii() { ! LC_ALL=C grep -qP '[^\x00-\x7f]' "$1" || fail "$1 is not ASCII"; }
if ! is_wine; then
	for locale in C POSIX ko_KR.EUC-KR ""; do
		LC_ALL=$locale LC_CTYPE='' LANG='' run 64 stauts
		ascii "$err"
		err_has 'no command is called "stauts" (did you mean "status"?); see "jitwarm --help"'
		LC_ALL=$locale LC_CTYPE='' LANG='' snapshot run 0 export --help
		ascii "$out"
	done
	printf '.version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$work/k.ptx"
	LC_ALL=C snapshot run "1|2" lint --gpus sm_86 "$work/k.ptx"
	ascii "$out"
	LC_ALL='' LC_CTYPE='' LANG=en_US.utf8 run 64 stauts
	err_has '“stauts”'
	LC_ALL=C run 3 scan "$work/없음"
	err_has '없음'
fi
