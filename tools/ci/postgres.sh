#!/usr/bin/env bash
# Runs the audit's tests on a real Postgres: Debian's, started in a temporary folder on a free port of
# loopback by an unprivileged user, and removed at the end whatever happens.
set -euo pipefail

case "${1-}" in
-*)
	[ "$1" = --help ] || exec >&2
	cat <<'EOT'
usage: tools/ci/postgres.sh [COMMAND ...]

Without a command: the tests of ./replay/audit/..., those that kill runs and the server, and what README says of
audits. A command gets the server's DSN in MURKSIM_POSTGRES, that of a hot standby in MURKSIM_POSTGRES_STANDBY, and in
MURKSIM_POSTGRES_RESTART a program that kills the server and starts it again.
EOT
	[ "$1" = --help ] && exit 0 || exit 2
	;;
esac
cd "$(dirname "$0")/../.."
. tools/ci/need.sh

find_programs() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t / -k 5 -V | tail -n 1 || true; }
programs=$(find_programs)
[ -n "$programs" ] || { install postgresql; programs=$(find_programs); }
[ -n "$programs" ] || { echo "Debian's package postgresql is needed" >&2; exit 1; }

# as COMMAND …: runs it as the user of the server. Postgres refuses to be started by root.
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
	as() { (cd / && runuser -u postgres -- "$@"); }
fi

work=$(mktemp -d /tmp/murksim-postgres.XXXXXX)
stop() {
	status=$?
	trap '' INT TERM
	for of in standby data; do
		as "$programs/pg_ctl" stop -D "$work/$of" -m immediate -s 2>/dev/null || true
	done
	rm -rf "$work"
	exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[ "$(id -u)" != 0 ] || chown postgres "$work"

password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
as sh -c "umask 077 && mkdir '$work/socket' && printf %s '$password' >'$work/password'"
as "$programs/initdb" -D "$work/data" -U murksim -A scram-sha-256 --pwfile="$work/password" -E UTF8 --locale=C >"$work/initdb" 2>&1 ||
	{ cat "$work/initdb" >&2; exit 1; }

# start FOLDER: starts a server on a port. A port that is free now may be taken a moment later: it tries others.
start() {
	for _ in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 30000))
		# Things are killed in these tests, so fsync stays on.
		as "$programs/pg_ctl" start -D "$1" -l "$1/log" -w -s \
			-o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$work/socket -c fsync=on -c max_connections=100" 2>/dev/null && return
	done
	cat "$1/log" >&2
	exit 1
}
start "$work/data"
first=$port
as env PGPASSWORD="$password" "$programs/pg_basebackup" -h 127.0.0.1 -p "$port" -U murksim -D "$work/standby" -R -X stream -c fast
start "$work/standby"
export MURKSIM_POSTGRES_STANDBY="postgres://murksim:$password@127.0.0.1:$port/postgres?sslmode=disable"
port=$first

# A server that was killed leaves processes that end when they see it; the port is free then.
cat >"$work/restart" <<EOT
#!/bin/sh
kill -9 \$(head -n 1 '$work/data/postmaster.pid')
for _ in 1 2 3 4 5 6 7 8 9 10; do
	cd / && $([ "$(id -u)" = 0 ] && echo runuser -u postgres --) '$programs/pg_ctl' start -D '$work/data' -l '$work/data/log' -w -s \\
		-o '-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$work/socket -c fsync=on -c max_connections=100' && exit
	sleep 0.3
done
exit 1
EOT
chmod +x "$work/restart"
export MURKSIM_POSTGRES_RESTART="$work/restart"
export MURKSIM_POSTGRES="postgres://murksim:$password@127.0.0.1:$port/postgres?sslmode=disable"
version=$(PGPASSWORD=$password "$programs/psql" -h 127.0.0.1 -p "$port" -U murksim -d postgres -Atc "SELECT current_setting('server_version') || ', fsync ' || current_setting('fsync')")
echo "Postgres $version, on port $port"

if [ $# -gt 0 ]; then
	"$@"
	exit
fi
status=0
go test -count=1 -tags postgres -v ./replay/audit/... >"$work/tests" 2>&1 || status=$?
go test -p 1 -count=1 -tags postgres -v -run 'OnPostgres$' ./cli ./tools/readme >>"$work/tests" 2>&1 || status=$?
grep -vE '^ *(=== |--- PASS)' "$work/tests" || true
ran=$(grep -cE '^ *--- (PASS|FAIL): [^ ]*[Pp]ostgres' "$work/tests" || true)
[ "$ran" -gt 0 ] || { echo "no test has run on Postgres" >&2; exit 1; }
echo "$ran tests ran on Postgres $version"
exit "$status"
