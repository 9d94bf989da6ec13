# prime --share s3://…: an object store that checks each signature, and every place where keys may be
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
server_program=s3.py
while read -r name; do unset "$name"; done < <(env | grep -oE '^AWS_[A-Z_0-9]*=' | tr -d =)
mkdir -p "$work/home"
HOME=$(native "$work/home")
export HOME
start_objects "$work/server"
export AWS_ENDPOINT_URL=http://$site AWS_REGION=eu-test-1
secrets='plain/Secret|session/Secret|session/Token'
objects() { # PLACE [COMPILED FETCHED]
	rm -rf "$CUDA_CACHE_PATH"
	JITWARM_PLAIN_HTTP=localhost run 0 prime --share "s3://$1" --share-unsigned "$sample" --json
	! grep -qE "$secrets" "$out" "$err" || fail "a secret was said"
	[[ $# == 1 ]] || json "d['compiled'] == $2 and d['shared']['fetched'] == $3 and 'trouble' not in d['shared']"
}
# PLACE WORDS: everything is compiled here, and one line says why
refused() {
	objects "$1"
	json 'd["compiled"] == 8 and d["shared"]["fetched"] == 0 and d["shared"]["refused"] == 0 and d["shared"]["trouble"]'
	[[ $(grep -c "warning" "$err") == 1 ]] || fail "not one line"
	err_has "$2"
}
keys() { export AWS_ACCESS_KEY_ID=$1 AWS_SECRET_ACCESS_KEY=$2; }
no_keys() { unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN; }

machine first
keys AKIDPLAIN plain/Secret+1
objects "lab/some%20prefix/ä b" 8 0
grep -q 'PUT /lab/some%2520prefix/%C3%A4%20b/v1/' "$log" || fail "not the path"
objects lab 8 0
app_compiles 0
machine second
objects lab/ 0 8
app_compiles 0
! grep -qE ' (400|403) ' "$log" || fail "something was refused: $(cat "$log")"
# The bucket says where it is
objects elsewhere 0 8
AWS_REGION='' AWS_DEFAULT_REGION='' objects lab 0 8

# What is wrong is refused, and said
keys AKIDPLAIN wrong
refused lab "SignatureDoesNotMatch"
keys AKIDNOBODY wrong
refused lab "InvalidAccessKeyId"
keys AKIDSESSION session/Secret+2
refused lab "InvalidToken"
keys AKIDPLAIN plain/Secret+1
refused skewed "RequestTimeTooSkewed: The difference between the request time and the current time is too large. (this machine's clock is "
err_has "behind the server's)"
refused none "NoSuchBucket: The specified bucket does not exist"
! grep -q "PUT /none/" "$log" || fail "asked a bucket that is none again"
refused closed "AccessDenied: Access Denied"
refused moved "status 307"
[[ ! -s $work/server/foreign-log ]] || fail "followed to another host"
for wrong in lab/../x a:b; do JITWARM_PLAIN_HTTP=localhost run 64 prime --share "s3://$wrong" --share-unsigned "$sample"; done
err_has "not s3://BUCKET"
AWS_REGION='x/../y' refused lab "is not an AWS region"
AWS_ENDPOINT_URL='http://a@b' refused lab "AWS_ENDPOINT_URL is not"
AWS_SECRET_ACCESS_KEY= refused lab "only one of AWS_ACCESS_KEY_ID"

# Where keys may be
export AWS_SESSION_TOKEN=session/Token==
keys AKIDSESSION session/Secret+2
objects lab 0 8
no_keys
is_wine || program_path=/usr/bin:/bin
refused lab "no AWS keys in the environment or in the profile default of ~/.aws, and "
unset program_path
mkdir "$work/home/.aws"
# Windows knows the home directory without HOME.
! is_wine || export AWS_SHARED_CREDENTIALS_FILE=$HOME/.aws/credentials AWS_CONFIG_FILE=$HOME/.aws/config
printf '[default]\r\naws_access_key_id = AKIDPLAIN\r\naws_secret_access_key=plain/Secret+1 ; remark\r\n' >"$work/home/.aws/credentials"
objects lab 0 8
printf '[profile lab]\nregion = eu-test-1\nendpoint_url = http://%s\ns3 =\n  region = nowhere\naws_access_key_id = AKIDSESSION\naws_secret_access_key = session/Secret+2\naws_session_token = session/Token==\n[profile company]\nsso_session = x\n' "$site" >"$work/home/.aws/config"
(unset AWS_ENDPOINT_URL AWS_REGION && export AWS_PROFILE=lab && objects lab 0 8 && [[ $(tail -n 1 "$log") == *" 200 "* ]])
printf '[other]\naws_access_key_id = AKIDPLAIN\naws_secret_access_key = plain/Secret+1\n' >"$work/other"
AWS_SHARED_CREDENTIALS_FILE=$(native "$work/other") AWS_PROFILE=other objects lab 0 8
printf '[default]\naws_access_key_id = AKIDPLAIN\n' >"$work/home/.aws/credentials"
refused lab "only one of aws_access_key_id"
is_wine || {
	ln -sf credentials "$work/home/.aws/credentials" # leads to itself
	refused lab "credentials: "
}
rm -r "$work/home/.aws"

# What aws says: roles, single sign-on, other programs
is_wine || {
	mkdir -p "$work/bin"
	aws() { printf '#!/bin/sh\n[ "$*" = "configure export-credentials --format process" ] || exit 9\necho x >>%q\n%s\n' "$work/aws-asked" "$1" >"$work/bin/aws" && chmod 755 "$work/bin/aws"; }
	PATH=$work/bin:$PATH
	until=$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)
	aws 'echo "{\"Version\": 1, \"AccessKeyId\": \"AKIDSESSION\", \"SecretAccessKey\": \"session/Secret+2\", \"SessionToken\": \"session/Token==\", \"Expiration\": \"'"$until"'\"}"'
	objects lab 0 8
	[[ $(wc -l <"$work/aws-asked") == 1 ]] || fail "each thread asks"
	aws 'echo "{\"Version\": 1, \"AccessKeyId\": \"AKIDPLAIN\", \"SecretAccessKey\": \"plain/Secret+1\"}"'
	objects lab 0 8
	aws 'echo nothing >&2; exit 253'
	refused lab "ends with exit status 253"
	aws 'echo "{}"'
	refused lab "the answer has no keys"
	aws 'printf "{\"AccessKeyId\": \"a\", \"SecretAccessKey\": \"b\", \"SessionToken\": \"c\\\\r\\\\nX: y\"}"'
	refused lab "SessionToken has a value that cannot be one"
	[[ $(id -u) != 0 ]] || {
		aws 'echo "{\"Version\": 1, \"AccessKeyId\": \"AKIDPLAIN\", \"SecretAccessKey\": \"plain/Secret+1\"}"'
		chown 65534 "$work/bin"
		: >"$work/aws-asked"
		refused lab "bin/aws is not run as root"
		[[ ! -s $work/aws-asked ]] || fail "root ran what another account may replace"
	}
}
nothing_left
# A secret itself goes nowhere, and a token of a session only to the store
! grep -qE '(plain|session)/Secret' "$work/server/keys" || fail "a secret was sent"
! grep -q session/Token < <(awk '/^foreign-log/ {f = 1} /^log/ {f = 0} f' "$work/server/keys") || fail "a token went to another host"
