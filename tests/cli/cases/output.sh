# Output that cannot be written is a failure; no escape sequences where no terminal is.
run_to_full_disk --help
[[ $? == 3 ]] || fail "a full disk went unnoticed"
err_has "standard output"
TERM=xterm run 0 --help
out_lacks $'\x1b'
run 64 $'no\x1bsuch'
err_lacks $'\x1b'
