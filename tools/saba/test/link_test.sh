#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What 'make install-lib' installs is enough for an application: header, library, pkg-config.
#
# usage: link_test.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
# shellcheck source=../../common/tap.sh
. "$here/../../common/tap.sh"
trap 'rm -rf "$work"' EXIT

link()
{
	make -s -C "$here/.." OUT="$work/out" PREFIX=/usr DESTDIR="$work/root" install-lib || return 1
	export PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$work/root/usr/lib/pkgconfig
	# not what else there is in /usr/lib
	# shellcheck disable=SC2046 # words
	"${CC:-cc}" -Wall -Werror -o "$work/link_test" "$here/link_test.c" \
		$(pkg-config --cflags --libs libsaba) || return 1
	SHUFFLE_SABA_SOCKET=$work/nix "$work/link_test" ||
		fail "link_test: got status $?, want 0"
	[ -s "$work/root/usr/share/man/man3/saba_client.3" ]
}

tap_prefix=saba
t "an application with the installed library" link
tap_end
