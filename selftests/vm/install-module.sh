#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Build and install the module for the running kernel, if its headers are here.
#
# usage: install-module.sh [DESTDIR]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"

release=$(uname -r)
kdir=/lib/modules/$release/build
if [ ! -e "$kdir/Makefile" ]; then
	note "no headers of the running kernel ($release): the module was not installed"
	exit 0
fi
copy=$BUILD/running/module
mkdir -p "$copy"
for s in net uapi; do
	rsync -rlpc --delete --exclude='*.o' --exclude='.*.cmd' "$SHUFFLE_ROOT/$s/" "$copy/$s/"
done
cp "$SHUFFLE_ROOT/Kbuild" "$copy/"
make -s -C "$kdir" M="$copy" modules
install -D -m 644 "$copy/net/shuffle/shuffle.ko" "${1-}/lib/modules/$release/updates/shuffle.ko"
[ -n "${1-}" ] || PATH=$PATH:/sbin:/usr/sbin depmod "$release"
note "installed /lib/modules/$release/updates/shuffle.ko"
