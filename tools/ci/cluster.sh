#!/usr/bin/env bash
# Sweeps on three hosts, network namespaces of this computer, with real servers, workers and a coordinator: they are
# killed, cut off, and their disks fill up. Every job must have one row, equal to that of a run on one host.
# It needs Go, and installs Debian's iproute2 if it is missing and it may.
set -euo pipefail

usage() {
	cat <<'EOT2'
usage: tools/ci/cluster.sh [--short | --million] [--seed N] [--only TEXT]

  --short    3,000 jobs and each fault at least once, about a minute; without it 10,000 jobs and
             more faults, several minutes
  --million  1,000,000 jobs of an empty world instead, on one host and over a server: how many a second,
             and how much memory
  --seed N   the order of the faults and whom they hit, as in an earlier run
  --only TEXT  only the faults whose name has a text, such as disk

It prints a table of the faults. It needs namespaces: root, sudo without a password, or a kernel that gives
users namespaces of their own.
Exit status: 0 all is as it should be, 1 else, 2 usage.
EOT2
}

amount=()
seed=()
only=()
while [ $# -gt 0 ]; do
	case "$1" in
	--short) amount=(-jobs 3000 -work 15s -cut 10s -rounds 1) ;;
	--million) amount=(-million) ;;
	--seed)
		case "${2-}" in '' | *[!0-9]*) echo "--seed takes a number" >&2; exit 2 ;; esac
		seed=(-seed "$2")
		shift
		;;
	--only) only=(-only "${2-}") && shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

cd "$(dirname "$0")/../.."
PATH="$PATH:/usr/sbin:/sbin"
. tools/ci/need.sh
need ip iproute2
need unshare util-linux

# The namespaces of the hosts, their links and their disks belong to namespaces of this run, and are gone with its last
# process.
as=()
apart=(unshare --net --mount)
if [ "$(id -u)" = 0 ] && "${apart[@]}" true 2>/dev/null; then
	:
elif [ "$(id -u)" != 0 ] && sudo -n "${apart[@]}" true 2>/dev/null; then
	as=(sudo -n)
elif unshare --user --map-root-user "${apart[@]:1}" mount -t tmpfs tmpfs /run 2>/dev/null; then
	apart=(unshare --user --map-root-user "${apart[@]:1}")
else
	missing "cluster.sh needs network namespaces: run it as root, let sudo go without a password, or allow users namespaces (sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=1000)"
fi

work=$(mktemp -d /tmp/murksim-cluster.XXXXXX)
trap '${as[@]+"${as[@]}"} rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
go build -o "$work/murksim" ./cmd/murksim
go build -o "$work/murksim-cluster" ./cmd/murksim-cluster
go build -o "$work/cluster" ./tools/ci/cluster
mkdir "$work/run"

# In the background, so that a signal comes through to it at once.
${as[@]+"${as[@]}"} "${apart[@]}" sh -c 'mount -t tmpfs tmpfs /run && mkdir /run/netns && exec "$@"' sh \
	"$work/cluster" -murksim "$work/murksim" -cluster "$work/murksim-cluster" -dir "$work/run" ${amount[@]+"${amount[@]}"} ${seed[@]+"${seed[@]}"} ${only[@]+"${only[@]}"} &
child=$!
trap 'kill "$child" 2>/dev/null || true' INT TERM
status=0
wait "$child" || status=$?
if kill -0 "$child" 2>/dev/null; then
	wait "$child" || true # for its end after a signal
fi
exit "$status"
