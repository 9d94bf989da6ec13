#!/bin/bash
# moto.sh BUILD-FOLDER   prime --share s3://… beside moto's server, which checks signatures and rights as Amazon's IAM does
# Exit status 1 if a case fails, 77 where it is not at hand (pip install 'moto[server]').
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
# shellcheck source=tests/share/places.sh
. "$here/places.sh"
python=$(python_with moto flask boto3) || { echo "skipped: no moto server"; exit 77; }
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit 3
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|AWS_[A-Z_0-9]*|XDG_[A-Z_]*|CUDA_[A-Z_]*)=' | tr -d =)
export no_proxy='*' HOME=$work/home NO_COLOR=1 JITWARM_PLAIN_HTTP=localhost
mkdir home
failed=0
fail() { cat out err 2>/dev/null; tail -n 5 server.log; echo "FAILED: $*"; failed=1 first=${first:-$*}; }
ok() { echo "ok: $*"; }
sample=$build/tests/framework/libsample_framework.so app=$build/tests/framework/framework-app
machine() { mkdir -p "$work/$1"; export CUDA_CACHE_PATH=$work/$1/cache JITWARM_STATE=$work/$1/state; }
warm() { [[ $("$here/../../scripts/with-simdriver.sh" -B "$build" sm_86 -- "$app" 2>/dev/null) == *"compiled 0 of"* ]]; }
says() { python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not (eval(sys.argv[1])))' "$1"; }
share() { timeout 120 "$here/../../scripts/with-simdriver.sh" -B "$build" sm_86 -- "$build/src/jitwarm" prime --share "$1" --share-unsigned "$sample" --json >out 2>err </dev/null; }

port=$(free_port)
"$python" -m moto.server -H 127.0.0.1 -p "$port" >server.log 2>&1 &
server=$!
await_port "$port" $server server.log || { echo "skipped: moto does not start"; exit 77; }
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_REGION=eu-west-1
# A bucket, a user who may use it, and from here on nobody without such rights
AWS_ACCESS_KEY_ID=root AWS_SECRET_ACCESS_KEY=root "$python" - "$AWS_ENDPOINT_URL" >keys 2>err <<'END' || { fail "the user"; exit 1; }
import json, sys, urllib.request
import boto3
s3, iam = (boto3.client(name, endpoint_url=sys.argv[1], region_name="eu-west-1") for name in ("s3", "iam"))
s3.create_bucket(Bucket="lab", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
for name, actions in (("ann", ["s3:GetObject", "s3:PutObject", "s3:ListBucket"]), ("bob", ["s3:ListBucket"])):
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    print(key["AccessKeyId"], key["SecretAccessKey"])
urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}))
END
as() { read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY < <(sed -n "$1p" keys) && export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY; }

as 1
for machine in first second; do
	machine $machine
	share "s3://lab/some prefix" && warm || fail "$machine"
	case $machine in first) says 'd["shared"]["placed"] == 8' ;; *) says 'd["compiled"] == 0 and d["shared"]["fetched"] == 8' ;; esac && ok $machine || fail $machine
done
machine wrong
AWS_SECRET_ACCESS_KEY=wrong share s3://lab && says 'd["compiled"] == 8 and "SignatureDoesNotMatch" in d["shared"]["trouble"]' && ok "a wrong secret" || fail "a wrong secret"
as 2
machine bob
share s3://lab && says 'd["compiled"] == 8 and "AccessDenied" in d["shared"]["trouble"]' && ok "no rights" || fail "no rights"
as 1
machine nowhere
share s3://nowhere && says 'd["compiled"] == 8 and "NoSuchBucket" in d["shared"]["trouble"]' && ok "no bucket" || fail "no bucket"
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
