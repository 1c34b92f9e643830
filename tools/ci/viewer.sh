#!/usr/bin/env bash
# Looks at the viewer in a real browser, and checks the types of its sources.
#
#   tools/ci/viewer.sh [FOLDER]    FOLDER: where to put pictures of what was seen
#
# It needs Go, Chromium, and Node with npm, which installs TypeScript in a folder of its own.
set -euo pipefail
cd "$(dirname "$0")/../.."
for command in chromium npm; do
	command -v "$command" >/dev/null || { echo "$command is needed" >&2; exit 1; }
done

typescript=7.0.2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --no-audit --no-fund --silent "typescript@$typescript"
"$folder/node_modules/.bin/tsc" -p view/site/src
echo "the types are right"

PICTURES=${1:+$(realpath "$1")} go test -count=1 -timeout 20m -parallel 2 -tags browser ./view/e2e
