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

need() {
	local sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$1" >/dev/null
}
python3 -c 'import ensurepip' 2>/dev/null || need python3-venv
command -v ffmpeg >/dev/null || need ffmpeg

pins=tools/ci/exports/requirements.txt
home=${XDG_CACHE_HOME:-$HOME/.cache}/murksim-tests/python-$(cksum <$pins | cut -d ' ' -f 1)
if [ ! -e "$home/installed" ]; then
	rm -rf "$home"
	python3 -m venv "$home"
	"$home/bin/python" -m pip install --quiet --disable-pip-version-check -r $pins
	touch "$home/installed"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/murksim" ./cmd/murksim
"$home/bin/python" tools/ci/exports/check.py "$work" "$@"
"$home/bin/python" tools/ci/exports/proof.py "$work"
