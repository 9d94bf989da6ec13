# prime --share http…: a web server, honest and lying
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
server_program=objects.py
mkdir -p "$work/home"
export HOME=$work/home
start_objects "$work/server"
objects() { JITWARM_PLAIN_HTTP=localhost run 0 prime --share "http://$site/$1" --share-unsigned "$sample" --json "${@:2}"; }

machine first
run 64 prime --share "http://$site/good" --share-unsigned "$sample"
err_has "only https is allowed"
[[ ! -s $log ]] || fail "asked by plain http"
rm -rf "$CUDA_CACHE_PATH"
objects good/
json 'd["compiled"] == 8 and d["shared"]["placed"] == 8 and "trouble" not in d["shared"]'
machine second
objects good
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8 and d["shared"]["refused"] == 0'
app_compiles 0
[[ $(requests ' - *$') == $(wc -l <"$log") ]] || fail "somebody's name went there"
# What it may send instead is refused, or the whole place is given up; either way everything is compiled, and one line says why
without() { # KIND
	machine "without-$1"
	objects "$1"
	json 'd["compiled"] == 8 and d["shared"]["fetched"] == 0 and d["shared"]["trouble"]'
	[[ $(grep -c "shared place" "$err") == 1 ]] || fail "not one line"
	app_compiles 0
	nothing_left
}
# One that fails for a second or two is used again: all requests are answered by 503, not at all, or late
again() { # KIND
	machine "again-$1"
	SIMDRIVER_COST=40 objects "$1" -j1
	json 'd["compiled"] + d["shared"]["fetched"] == 8 and d["shared"]["fetched"] > 0 and "trouble" not in d["shared"]'
	app_compiles 0
	nothing_left
}
for kind in silent loris 503; do beside nobody without "$kind"; done
for kind in nap slowdown hiccup; do beside nobody again "$kind"; done
for kind in reset garbage loop auth short; do without "$kind"; done
# One that takes nothing gives what it has; each connection asks it once
machine readonly
objects readonly
json 'd["compiled"] == d["shared"]["unplaced"] == 4 and d["shared"]["fetched"] == 4 and "status 405" in d["shared"]["trouble"]'
[[ $(grep -c "could not be put there" "$err") == 1 && $(grep -c "shared place" "$err") == 0 ]] || fail "not one line"
[[ $(requests 'PUT /readonly/') -le 16 ]] || fail "asked again and again"
app_compiles 0
for kind in cut wrong endless; do
	machine "without-$kind"
	objects $kind
	json 'd["compiled"] == 8 and d["shared"]["refused"] == 8 and d["shared"]["placed"] == 8'
	app_compiles 0
	nothing_left
done
machine without-anybody
JITWARM_PLAIN_HTTP=localhost run 0 prime --share http://127.0.0.1:9/none --share-unsigned "$sample"
err_has "the shared place is no longer used"
app_compiles 0
together

# A password in the address is used, and never said
nobody_said_it() { ! grep -q geheim "$out" "$err" || fail "a password is said: $(grep -h geheim "$out" "$err")"; }
for place in "http://ann:geheim@$site/auth" "http://ann:geheim@127.0.0.1:9/none"; do
	machine said
	rm -rf "$CUDA_CACHE_PATH"
	JITWARM_PLAIN_HTTP=localhost run 0 prime --share "$place" --share-unsigned "$sample"
	err_has "the shared place is no longer used: http://"
	nobody_said_it
done
# Plain http that was not allowed is known at once: nothing is opened, asked or compiled.
for plain in "" other localhost; do
	JITWARM_PLAIN_HTTP=$plain JITWARM_STATE=$work/untouched CUDA_CACHE_PATH=$work/untouched-cache \
		run 64 prime --share http://host.invalid/x --share-unsigned "$sample"
	err_one_line
	err_has "JITWARM_PLAIN_HTTP=host.invalid:80 allows"
	[[ ! -e $work/untouched && ! -e $work/untouched-cache ]] || fail "something was started"
done
for place in "ftp://ann:geheim@$site/" "http://ann:gehe/geheim@$site" "s3://ann:geheim@bucket" "https://ann:geheim@host/?x=1" "https://host/?geheim"; do
	JITWARM_PLAIN_HTTP=localhost run 64 prime --share "$place" --share-unsigned "$sample"
	nobody_said_it
done
run 64 push "oci://ann:geheim@$site/x" "$sample"
nobody_said_it
[[ $(requests 'Basic') -ge 1 ]] || fail "not used"
# Names and passwords of a file go to the host that they are for, and to no other
printf 'machine 127.0.0.1 login ann password secret\n' >"$work/netrc"
NETRC=$(native "$work/netrc")
export NETRC
machine named
objects auth
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8'
[[ $(requests 'auth/.* Basic') -ge 8 ]] || fail "not named"
unset NETRC
is_wine || { # A pipe is not opened
	mkfifo "$work/pipe"
	machine piped
	NETRC=$work/pipe objects good
}
printf 'machine %s login ann password secret\n' localhost 127.0.0.1 >"$work/netrc"
export NETRC=$work/netrc
for host in localhost 127.0.0.1; do # redirected to another host, and to another port of the same one
	: >"$work/server/foreign-log"
	machine "redirected-$host"
	JITWARM_PLAIN_HTTP=localhost run 0 prime --share "http://$host:${site#*:}/elsewhere" --share-unsigned "$sample" --json
	json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8'
	[[ $(requests 'elsewhere/.* Basic') -ge 8 && $(wc -l <"$work/server/foreign-log") -ge 8 ]] || fail "not redirected"
	! grep -q Basic "$work/server/foreign-log" || fail "a password went elsewhere"
	app_compiles 0
done
