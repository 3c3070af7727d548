#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Build the Debian packages from a copy of the project's own files.
#
# usage: build.sh FOLDER [VERSION]
#   FOLDER   where the packages go; what is in it is removed
#   VERSION  instead of that of debian/changelog
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../vm/common.sh
. "$here/../vm/common.sh"

out=$(mkdir -p "$1" && cd "$1" && pwd)
version=${2:-$(cd "$SHUFFLE_ROOT" && dpkg-parsechangelog -S Version)}
copy=$out/shuffle-$version
log=$out/build.log

rm -rf "${out:?}"/*
"$here/copy-sources.sh" "$copy"
if [ -n "${2-}" ]; then
	sed -i "1s/(.*)/($version)/" "$copy/debian/changelog"
fi
note "building packages of version $version"
if ! (cd "$copy" && DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)" \
	dpkg-buildpackage -us -uc -b >"$log" 2>&1); then
	tail -30 "$log" >&2
	die "no packages were built; log: $log"
fi
rm -rf "$copy"
(cd "$out" && ls -- *.deb)
