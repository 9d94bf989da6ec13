# What goes wrong between here and a shared place: names that nobody answers, certificates of another time or host, full disks. Each is
# bounded and said in one line, and what was to be shared is compiled here.
! is_wine || skip "the system's own names and certificates"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
server_program=objects.py
shares_nothing() { # WORDS ARGUMENT…
	run 0 prime --share-unsigned "$sample" --json "${@:2}"
	json 'd["compiled"] == 8 and d["shared"]["trouble"]'
	[[ $(grep -c "shared place" "$err") == 1 ]] || fail "not one line"
	err_has "$1"
	nothing_left
}

# Names
no_names() { # COMMAND…
	export LD_PRELOAD=$build/tests/cli/libhung-resolver.so ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0
	"$@"
}
crashes() { # COMMAND…
	export CRASHED_RESOLVER=1
	"$@"
}
interrupted() { # ARGUMENT…: by Ctrl-C while nobody answers
	local begun ended=0
	export HUNG_RESOLVER=$work/asked SIMDRIVER_COST=30
	# shellcheck disable=SC2086
	timeout --foreground -s KILL 200 $JITWARM "$@" >"$out" 2>"$err" </dev/null &
	begun=$!
	await test -e "$HUNG_RESOLVER"
	kill -INT $begun
	wait $begun || ended=$?
	[[ $ended == 130 ]] || fail "ended with $ended: $(cat "$err")"
	err_has "interrupted"
	nothing_imported
	nothing_left
}
if ! is_emulated; then # the resolver is of another processor than the tools that start jitwarm
	beside nobody no_names shares_nothing "no answer within 2 seconds" --share https://registry.example/x
	beside nobody no_names crashes shares_nothing "its process" --share https://registry.example/x
	beside nobody no_names interrupted prime --share https://registry.example/x --share-unsigned "$sample"
fi

# Disks
on_small_disk() { # SIZE COMMAND…
	mkdir "$work/small"
	mount -t tmpfs -o "size=$1,mode=700" none "$work/small" 2>/dev/null || { echo "no disk can be mounted"; return; }
	trap 'umount "$work/small"' EXIT
	"${@:2}"
}
# What is there is taken, although nothing can be put there
place_ends() {
	run 0 prime --share "$work/small" --share-unsigned "$sample"
	rm -rf "$CUDA_CACHE_PATH"
	find "$work/small" -name '*.jwpack' | sort | sed -n '1,4p' | xargs rm
	head -c 10M /dev/zero >"$work/small/filled" 2>/dev/null || true
	run 0 prime --share "$work/small" --share-unsigned "$sample" --json
	json 'd["compiled"] == d["shared"]["unplaced"] == 4 and d["shared"]["fetched"] == 4 and "No space left" in d["shared"]["trouble"]'
	err_has "4 modules could not be put there: "
	app_compiles 0
}
if [[ $(id -u) == 0 ]]; then
	beside nobody on_small_disk 4M place_ends
fi

# Certificates: of another time, of another host, of an issuer that nobody here knows
command -v openssl >/dev/null || { together; exit 0; }
certificate() { # NAME ADDRESSES START END
	mkdir "$work/$1"
	(
		cd "$work/$1"
		: >index && echo 01 >serial
		printf '[ca]\ndefault_ca = x\n[x]\ndatabase = index\nnew_certs_dir = .\nserial = serial\ndefault_md = sha256\npolicy = any\nx509_extensions = is\n[any]\ncommonName = supplied\n[is]\nsubjectAltName = %s\n[req]\ndistinguished_name = any\n' "$2" >ca
		openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out asked.pem -subj /CN=here -config ca &&
			openssl ca -batch -config ca -selfsign -keyfile key.pem -in asked.pem -out cert.pem -notext -startdate "$3" -enddate "$4" &&
			cat key.pem cert.pem >both.pem
	) >/dev/null 2>&1 || fail "no certificate: $1"
	start_objects "$work/$1" "$work/$1/both.pem"
	site=localhost:${site#*:} # Mbed TLS 2.28 finds no address among a certificate's names
	export SSL_CERT_FILE=$work/$1/cert.pem
}
own=IP:127.0.0.1,DNS:localhost
certificate expired "$own" 20200101000000Z 20210101000000Z
machine expired
shares_nothing "(this machine's clock says 2" --share "https://$site/x"
certificate unborn "$own" 20900101000000Z 20910101000000Z
machine unborn
shares_nothing "(this machine's clock says 2" --share "https://$site/x"
certificate other "DNS:other.example" 20200101000000Z 20900101000000Z
machine other
shares_nothing "localhost" --share "https://$site/x"
err_lacks "clock"
err_lacks "CURL_CA_BUNDLE"
certificate unknown "$own" 20200101000000Z 20900101000000Z
unset SSL_CERT_FILE
machine unknown
shares_nothing "; CURL_CA_BUNDLE or SSL_CERT_FILE names a file of certificates to trust" --share "https://$site/x"
err_lacks "clock"
together
