#!/usr/bin/env bash
# Opens what murksim export and run --stats write in the programs that it is for (NumPy, pandas, pyarrow,
# Pillow, the MCAP library, ffmpeg), and compares every value with the saved state of the same tick, which
# is read here by docs/STATE.md alone. Then it runs the program of docs/AUDIT.md that checks proofs.
set -euo pipefail

usage() {
	cat <<'EOT'
usage: tools/ci/exports.sh [SCENARIO...]

It exports every kind of file from recordings of these scenarios, or of some that have
all that fields and spaces can be. The Python packages lie in a folder of their own, in
the user's cache, where they are installed when they are missing;
tools/ci/exports/requirements.txt pins them.
EOT
}
case "${1-}" in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../.."
. tools/ci/need.sh
need ffmpeg ffmpeg
environment tools/ci/exports/requirements.txt

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/murksim" ./cmd/murksim
"$python" tools/ci/exports/check.py "$work" "$@"
"$python" tools/ci/exports/proof.py "$work"
