#!/usr/bin/env python3
"""make-sbom.py LIBRARIES PACKAGE   an SPDX 2.3 document on what a package contains, on stdout

LIBRARIES is the line that build-linux.sh or build-windows.sh keeps of the libraries it has linked in ("…: zlib=1:1.2.13 …", Debian's
source packages); where it begins with "shared", the package takes them from the system. SOURCE_DATE_EPOCH is the document's time. The same files give the same bytes.
"""
import datetime, hashlib, json, os, re, sys, uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LICENCES = {"zlib": "Zlib", "libisal": "BSD-3-Clause", "libzstd": "BSD-3-Clause", "lz4": "BSD-2-Clause", "cjson": "MIT", "libarchive": "BSD-2-Clause",
            "libsodium": "ISC", "libuv1": "MIT", "glibc": "LGPL-2.1-or-later"}
BESIDE = {"glibc"}  # in the container image
ONLY_FOR_TESTS = {"cmocka"}


def part(identifier, name, version, licence, **more):
    return {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def document(libraries, package):
    data = open(package, "rb").read()
    header = open(os.path.join(ROOT, "include/jitwarm/version.h"), encoding="utf-8").read()
    version = os.environ.get("JITWARM_PACKAGE_VERSION") or ".".join(re.search(rf"#define JW_VERSION_{name} +(\d+)", header)[1] for name in ("MAJOR", "MINOR", "PATCH"))
    sha256 = hashlib.sha256(data).hexdigest()
    parts = [part("SPDXRef-jitwarm", "jitwarm", version, "Apache-2.0", packageFileName=os.path.basename(package),
                  checksums=[{"algorithm": "SHA256", "checksumValue": sha256}])]
    links = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-jitwarm"}]
    kind, names = open(libraries, encoding="utf-8").read().split(":", 1)
    shared = kind.startswith("shared")
    for name, number in re.findall(r" ([a-z0-9.+-]+)=(\S+)", names):
        if name in ONLY_FOR_TESTS:
            continue
        parts.append(part(f"SPDXRef-{name}", name, number, LICENCES[name], externalRefs=[{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name}@{number.replace(':', '%3A').replace('+', '%2B')}?arch=source"}]))
        link = "DYNAMIC_LINK" if shared else "CONTAINS" if name in BESIDE else "STATIC_LINK"
        links.append({"spdxElementId": "SPDXRef-jitwarm", "relationshipType": link, "relatedSpdxElement": f"SPDXRef-{name}"})
    made = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": os.path.basename(package),
            "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, sha256)}",
            "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: jitwarm make-sbom.py"]},
            "packages": parts, "relationships": links}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    json.dump(document(*sys.argv[1:]), sys.stdout, indent=1)
    print()
