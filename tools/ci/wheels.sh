#!/usr/bin/env bash
# Builds the wheels of the Python package for Linux on amd64 and arm64, into a folder, and imports each: that of the
# other processor in an emulator, as far as the library goes. It needs Go and Python; on Debian it installs the compilers and the emulator if they are missing.
#
#   tools/ci/wheels.sh [--this] [FOLDER]     default: python/dist; --this builds only the wheel for the processor at hand
set -euo pipefail
all="amd64 arm64"
if [ "${1-}" = --this ]; then
	all=$(go env GOARCH)
	shift
fi
case "${1-}" in
-*) echo "usage: tools/ci/wheels.sh [--this] [FOLDER]" >&2; exit 2 ;;
esac
mkdir -p "${1:-$(dirname "$0")/../../python/dist}"
folder=$(cd "${1:-$(dirname "$0")/../../python/dist}" && pwd)
cd "$(dirname "$0")/../.."
. tools/ci/need.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$folder"/murksim-*.whl
machine=$(uname -m)
for arch in $all; do
	name=x86_64 package=x86-64 compiler=gcc
	if [ $arch = arm64 ]; then name=aarch64 package=aarch64; fi
	if [ $name = "$machine" ]; then
		need gcc gcc libc6-dev
	else
		compiler=$name-linux-gnu-gcc
		need $compiler gcc-$package-linux-gnu libc6-dev-$arch-cross
		need qemu-$name-static qemu-user-static
	fi
	wheel=$(cd python && MURKSIM_ARCH=$arch CC=$compiler python3 -c "import build_murksim, sys; print(build_murksim.build_wheel(sys.argv[1]))" "$folder")
	mkdir "$work/$arch"
	python3 -m zipfile -e "$folder/$wheel" "$work/$arch"
	cat >"$work/version.c" <<'EOT'
#include <stdio.h>
#include "murksim.h"
int main(void)
{
	char version[64];
	murksim_version(version, sizeof version);
	return puts(version) < 0;
}
EOT
	$compiler -I cmd/libmurksim -o "$work/$arch/version" "$work/version.c" -L "$work/$arch/murksim" -lmurksim -Wl,-rpath,"$work/$arch/murksim"
	run=()
	if [ $name != "$machine" ]; then run=(qemu-$name-static -L "/usr/$name-linux-gnu"); fi
	echo "$wheel: $(stat -c %s "$folder/$wheel") bytes, murksim $("${run[@]}" "$work/$arch/version")"
done
