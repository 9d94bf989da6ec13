# prime --share s3://…: an object store that checks each signature, and every place where keys may be
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
server_program=s3.py
while read -r name; do unset "$name"; done < <(env | grep -oE '^AWS_[A-Z_0-9]*=' | tr -d =)
mkdir -p "$work/home"
HOME=$(native "$work/home")
export HOME
start_registry "$work/server"
export AWS_ENDPOINT_URL=http://$site AWS_REGION=eu-test-1 AWS_EC2_METADATA_DISABLED=true
secrets='plain/Secret|session/Secret|role/Secret|box/Secret|session/Token|role/Token|box/Token|instance-token|Box abc'
objects() { # PLACE [COMPILED FETCHED]
	rm -rf "$CUDA_CACHE_PATH"
	run 0 prime --share "s3://$1" --insecure --share-unsigned ${back-} "$sample" --json
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
back=--back objects "lab/some%20prefix/ä b" 8 0
for asked in "HEAD [^ ]* 404" "PUT [^ ]* 200"; do
	grep -qE "^${asked/ / /lab/some%2520prefix/%C3%A4%20b/v1/plan/p-}" "$log" || fail "no plan was put there: $(grep plan/ "$log")"
done
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

# A clock that is off: each connection learns the server's time once
objects skewed 0 8
app_compiles 0
[[ $(requests 'RequestTimeTooSkewed') -ge 1 && $(requests 'RequestTimeTooSkewed') -le 16 ]] || fail "not once"

# What is wrong is refused, and said
keys AKIDPLAIN wrong
refused lab "SignatureDoesNotMatch"
keys AKIDNOBODY wrong
refused lab "InvalidAccessKeyId"
keys AKIDSESSION session/Secret+2
refused lab "InvalidToken"
keys AKIDPLAIN plain/Secret+1
refused confused "RequestTimeTooSkewed: The difference between the request time and the current time is too large. (this machine's clock is "
err_has "behind the server's)"
refused none "NoSuchBucket: The specified bucket does not exist"
! grep -q "PUT /none/" "$log" || fail "asked a bucket that is none again"
refused closed "AccessDenied: Access Denied"
refused moved "status 307"
[[ ! -s $work/server/foreign-log ]] || fail "followed to another host"
for wrong in lab/../x a:b; do run 64 prime --share "s3://$wrong" --insecure --share-unsigned "$sample"; done
err_has "not s3://BUCKET"
AWS_REGION='x/../y' refused lab "is no region"
AWS_ENDPOINT_URL='http://a@b' refused lab "AWS_ENDPOINT_URL is not"
AWS_SECRET_ACCESS_KEY= refused lab "only one of AWS_ACCESS_KEY_ID"

# Where keys may be
export AWS_SESSION_TOKEN=session/Token==
keys AKIDSESSION session/Secret+2
objects lab 0 8
no_keys
refused lab "no keys of AWS in the environment, nor in the profile default"
mkdir "$work/home/.aws"
# Windows knows the home directory without HOME.
! is_wine || export AWS_SHARED_CREDENTIALS_FILE=$HOME/.aws/credentials AWS_CONFIG_FILE=$HOME/.aws/config
printf '[default]\r\naws_access_key_id = AKIDPLAIN\r\naws_secret_access_key=plain/Secret+1 ; remark\r\n' >"$work/home/.aws/credentials"
objects lab 0 8
printf '[profile lab]\nregion = eu-test-1\nendpoint_url = http://%s\ns3 =\n  region = nowhere\naws_access_key_id = AKIDSESSION\naws_secret_access_key = session/Secret+2\naws_session_token = session/Token==\n[profile company]\nsso_session = x\n' "$site" >"$work/home/.aws/config"
(unset AWS_ENDPOINT_URL AWS_REGION && export AWS_PROFILE=lab && objects lab 0 8 && tail -n 1 "$log" | grep -q ' 200 ')
AWS_PROFILE=company refused lab "sso_session, which jitwarm does not follow"
printf '[other]\naws_access_key_id = AKIDPLAIN\naws_secret_access_key = plain/Secret+1\n' >"$work/other"
AWS_SHARED_CREDENTIALS_FILE=$(native "$work/other") AWS_PROFILE=other objects lab 0 8
printf '[default]\naws_access_key_id = AKIDPLAIN\n' >"$work/home/.aws/credentials"
refused lab "only one of aws_access_key_id"
rm -r "$work/home/.aws"

# An instance's role and a container's, which no proxy gives
unset AWS_EC2_METADATA_DISABLED
export AWS_EC2_METADATA_SERVICE_ENDPOINT=http://$foreign/
objects lab 0 8
grep -q 'PUT /latest/api/token 200' "$work/server/foreign-log" || fail "no session with the instance's service"
[[ $(grep -c the-role "$work/server/foreign-log") == 1 ]] || fail "each thread asks for the role"
no_proxy=localhost http_proxy=http://127.0.0.1:9 AWS_ENDPOINT_URL=http://localhost:${site#*:} objects lab 0 8
AWS_EC2_METADATA_SERVICE_ENDPOINT=http://localhost:${foreign#*:} refused lab "it answers with status 404"
AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:$(cat "$work/server/silent") refused lab "timed out"
: >"$work/server/moved"
refused lab "it answers with status 307"
rm "$work/server/moved"
AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:9 refused lab "the role of this instance (http://127.0.0.1:9)"
export AWS_CONTAINER_CREDENTIALS_FULL_URI=http://$foreign/box
AWS_CONTAINER_AUTHORIZATION_TOKEN="Box abc" objects lab 0 8
printf 'Box abc\n' >"$work/token"
AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=$(native "$work/token") objects lab 0 8
refused lab "status 401"
AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.invalid/box refused lab "only https is allowed"
nothing_left
# A secret itself goes nowhere, and a token of a session only to the store
! grep -qE '(plain|session|role|box)/Secret' "$work/server/keys" || fail "a secret was sent"
! awk '/^foreign-log/ {f = 1} /^log/ {f = 0} f' "$work/server/keys" | grep -qE 'session/Token|role/Token|box/Token' || fail "a token went to another host"
! awk '/^foreign-log/ {f = 1} /^log/ {f = 0} !f' "$work/server/keys" | grep -qE 'instance-token' || fail "an instance's token went to another host"
