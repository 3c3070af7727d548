#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What 'make install-lib' installs is enough for an application: header, library, pkg-config.
#
# usage: link_test.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

link()
{
	make -s -C "$here/.." OUT="$work/out" PREFIX=/usr DESTDIR="$work/root" install-lib || return 1
	export PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$work/root/usr/lib/pkgconfig
	# not what else there is in /usr/lib
	# shellcheck disable=SC2046 # words
	"${CC:-cc}" -Wall -Werror -o "$work/link_test" "$here/link_test.c" \
		$(pkg-config --cflags --libs libsaba) || return 1
	SHUFFLE_SABA_SOCKET=$work/nix "$work/link_test" || { echo "link_test: $?"; return 1; }
	[ -s "$work/root/usr/share/man/man3/saba_client.3" ]
}

if said=$(link 2>&1); then
	echo "ok 1 - saba: an application with the installed library"
	echo "1..1"
else
	echo "not ok 1 - saba: an application with the installed library"
	printf '%s\n' "$said" | sed 's/^/# /'
	echo "1..1"
	exit 1
fi
