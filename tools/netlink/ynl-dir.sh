#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Print the folder with the netlink tools of Debian's 6.12 kernel source:
# FOLDER/tools/net/ynl and the schemas in FOLDER/Documentation/netlink.  Takes
# them from linux-source-6.12 if no unpacked source is in the cache.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../selftests/vm/common.sh
. "$here/../../selftests/vm/common.sh"

tar=/usr/src/linux-source-6.12.tar.xz
version=$(dpkg-query -W -f '${Version}' linux-source-6.12 2>/dev/null) ||
	die "linux-source-6.12 is not installed: run 'make deps'"
dir=$SHUFFLE_CACHE/linux-$version
if [ -e "$dir/tools/net/ynl/cli.py" ] && [ -e "$dir/Documentation/netlink/genetlink-legacy.yaml" ]; then
	echo "$dir"
	exit 0
fi
dir=$SHUFFLE_CACHE/ynl-$version
if [ ! -e "$dir/.done" ]; then
	note "unpacking the netlink tools of linux-source-6.12"
	rm -rf "$dir"
	mkdir -p "$dir"
	tar -xf "$tar" -C "$dir" --strip-components=1 --wildcards \
		'*/tools/net/ynl/*' '*/Documentation/netlink/*'
	touch "$dir/.done"
fi
echo "$dir"
