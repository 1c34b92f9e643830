#!/usr/bin/env bash
# Runs every scenario three times, in separate processes with different GOMAXPROCS
# and 1, 2 and 8 workers, the first with plain kernels, and compares every field's hash at every
# tick, the recordings, and the final hash with the committed one and with that of a run in sweeps
# of several ticks. With --arch it compares processors, with --resume runs that go on from a saved
# state. --help lists the options; tools/ci/determinism does the work.
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
work=$(CDPATH='' cd -- "$work" && pwd)
go -C "$root" build -buildvcs=false -o "$work/determinism" ./tools/ci/determinism
status=0
TMPDIR=$work "$work/determinism" "$root" "$@" || status=$?
exit "$status"
