#!/usr/bin/env python3
"""The manifests of packaging/kubernetes are such that Kubernetes takes them.

Each is parsed, and checked against the schemas of Kubernetes' API where kubernetes-validate is at hand (pip). The stages
that packaging/docker/Dockerfile copies from are in it. JITWARM_TRUST_ACCOUNTS is set where root meets another account's volume, and in no
other file of packaging, examples, actions and .github."""
import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML")
    sys.exit(77)
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

root = pathlib.Path(__file__).resolve().parents[2]
files = sorted((root / "packaging/kubernetes").glob("*.yaml"))
assert len(files) == 3
for path in files:
    document = yaml.safe_load(path.read_text())
    if kubernetes_validate:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    pod = document["spec"]["template"]["spec"]
    if "selector" in document["spec"]:
        assert document["spec"]["selector"]["matchLabels"] == document["spec"]["template"]["metadata"]["labels"], path
    volumes = {volume["name"] for volume in pod["volumes"]}
    shared = {volume["name"] for volume in pod["volumes"] if "emptyDir" in volume}
    for container in pod.get("initContainers", []) + pod["containers"]:
        mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
        assert mounts.keys() <= volumes, (path, container["name"])
        for entry in container.get("env", []):
            # The cache and the state are on the volume that both containers mount.
            assert entry["name"] not in ("CUDA_CACHE_PATH", "JITWARM_STATE") or entry["value"].startswith(mounts.get("cache", "/tmp") + "/"), (path, entry)
        # Every account can write to an emptyDir, so jitwarm as root needs the setting there, and only there.
        trust = [entry["value"] for entry in container.get("env", []) if entry["name"] == "JITWARM_TRUST_ACCOUNTS"]
        runs = "jitwarm" in " ".join([container["image"], *container.get("command", [])])
        assert trust == (["1"] if runs and mounts.keys() & shared else []), (path, container["name"])
stages = []
for line in (root / "packaging/docker/Dockerfile").read_text().splitlines():
    words = line.split()
    assert "TRUST_ACCOUNTS" not in line and words[:1] != ["VOLUME"], line
    if words[:1] == ["FROM"]:
        stages += words[3:4] if words[2:3] == ["AS"] else [None]
    for stage in re.findall(r"--from=(\S+)", line):
        assert stage in stages, line
assert stages == ["jitwarm", "app", "cache", None], stages
for folder in "packaging", "examples", "actions", ".github", "src/setup":
    for path in (root / folder).rglob("*"):
        if path.is_file() and path.suffix not in (".ico", ".pyc") and b"JITWARM_TRUST_ACCOUNTS" in path.read_bytes():
            assert path == root / "packaging/kubernetes/deployment.yaml", path
print("%d manifests%s, a Dockerfile" % (len(files), ", by the API's schemas of " + kubernetes_validate.latest_version() if kubernetes_validate else ""))
