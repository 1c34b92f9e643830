#!/usr/bin/env bash
# Builds the Python package from its folder, installs it into an environment of its own, and tests it: pytest, mypy, the
# examples of docs/PYTHON.md. It needs Go, gcc and Python 3.10 or later; on Debian it installs gcc and what venv needs.
set -euo pipefail

usage() {
	cat <<'EOT'
usage: tools/ci/python.sh [--long] [PYTEST ARGUMENT...]

The packages that the tests need lie in a folder of their own, in the user's cache, where they are installed when they are
missing; python/requirements-test.txt pins them. With --long, those of
Stable-Baselines3 are among them (python/requirements-long.txt), whose torch takes 5 GB, and it trains agents.
EOT
}
long=false
case "${1-}" in
-h | --help) usage; exit 0 ;;
--long) long=true; shift ;;
esac
cd "$(dirname "$0")/../.."
. tools/ci/need.sh
need gcc gcc libc6-dev

pins=(python/requirements-test.txt)
if $long; then pins+=(python/requirements-long.txt); fi
environment "${pins[@]}"
marks=(-m "not long")
if $long; then marks=(); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/site" ./python
export PYTHONPATH="$work/site" PYTHONDONTWRITEBYTECODE=1
# The tests run outside of the folder of the package, so that they get the one that was installed.
cp -r python/tests python/pyproject.toml docs/PYTHON.md README.md environment/testdata/trajectories.tsv "$work"
cd "$work"
"$python" -m pytest -q -p no:cacheprovider "${marks[@]}" tests "$@"
MYPYPATH="$work/site" "$python" -m mypy --cache-dir="$work/mypy" -p murksim -p tests
