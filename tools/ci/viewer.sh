#!/usr/bin/env bash
# Looks at the viewer in a real browser, and checks the types of its sources.
#
#   tools/ci/viewer.sh [--short] [FOLDER]    --short: fewer scenarios; FOLDER: where to put pictures of what was seen
#
# It needs Go, Chromium, and Node with npm, which installs TypeScript in a folder of its own.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/ci/need.sh
short=
[ "${1-}" != --short ] || { short=-short && shift; }
need chromium chromium
need npm npm

version=7.0.2
typescript=${XDG_CACHE_HOME:-$HOME/.cache}/murksim-tests/typescript-$version
[ -e "$typescript/installed" ] || {
	npm install --prefix "$typescript" --no-audit --no-fund --loglevel error "typescript@$version"
	touch "$typescript/installed"
}
"$typescript/node_modules/.bin/tsc" -p view/site/src
echo "the types are right"

PICTURES=${1:+$(realpath "$1")} go test -count=1 -timeout 1h -parallel 2 -tags browser $short ./view/e2e
