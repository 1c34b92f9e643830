# To be sourced by the scripts of this folder.

# missing TEXT: ends the script with the status of a check that is skipped.
missing() {
	echo "skipped: $1" >&2
	exit 77
}

# install PACKAGE…: installs packages of Debian, or ends the script if it may not.
install() {
	local as=()
	if [ "$(id -u)" != 0 ]; then
		sudo -n true 2>/dev/null || missing "root must install this first: apt-get install $*"
		as=(sudo -n)
	fi
	command -v apt-get >/dev/null || missing "it needs $*, as Debian calls it"
	( # One at a time: checks run side by side.
		flock 9
		"${as[@]}" apt-get update -qq
		"${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
	) 9>"${TMPDIR:-/tmp}/murksim-install.$(id -u)"
}

# need COMMAND PACKAGE…: installs packages if a command is missing.
need() {
	command -v "$1" >/dev/null || install "${@:2}"
}

# environment FILE…: sets $python to a Python that has the packages pinned in these files. They lie
# in a folder of the user's cache, where it installs them if they are missing.
environment() {
	need python3 python3
	python3 -c 'import ensurepip' 2>/dev/null || install python3-venv
	local home
	home=${XDG_CACHE_HOME:-$HOME/.cache}/murksim-tests/python-$(cat "$@" | cksum | cut -d ' ' -f 1)
	python=$home/bin/python
	[ ! -e "$home/installed" ] || return 0
	rm -rf "$home"
	python3 -m venv "$home"
	local pins=()
	for file in "$@"; do pins+=(-r "$file"); done
	"$python" -m pip install --quiet --disable-pip-version-check "${pins[@]}"
	touch "$home/installed"
}
