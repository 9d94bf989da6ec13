#!/usr/bin/env bash
# make-documents.sh [BUILD-FOLDER]   writes docs/json.md and data/schemas from the tables in src/cli/documents
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
cmake --build "$build" --target document-schemas >/dev/null
python3 tests/documents/reference.py "$build/tests/documents/document-schemas" --write
