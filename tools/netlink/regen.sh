#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Make what is made from Documentation/netlink/specs/shuffle.yaml: the uapi
# header, the kernel's tables, the tables that programs print from.
#
# usage: regen.sh [--check]
#   --check   change nothing; fail with a diff if something is out of date
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
spec=Documentation/netlink/specs/shuffle.yaml
check=0
case ${1-} in
--check) check=1 ;;
'') ;;
*)
	echo "usage: regen.sh [--check]" >&2
	exit 2
	;;
esac

ynl=$("$here/ynl-dir.sh")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# The generator looks for its schema beside the specification, and upwards for
# MAINTAINERS to know what to call it.
mkdir -p "$tmp/$(dirname $spec)" "$tmp/out"
cp "$root/$spec" "$tmp/$spec"
cp "$ynl"/Documentation/netlink/*.yaml "$tmp/Documentation/netlink/"
touch "$tmp/MAINTAINERS"

gen()
{
	timeout 1200 python3 "$ynl/tools/net/ynl/ynl-gen-c.py" --spec "$tmp/$spec" "$@"
}

gen --mode uapi --header -o "$tmp/out/shuffle_netlink.h"
gen --mode kernel --header -o "$tmp/out/netlink_gen.h"
gen --mode kernel --source -o "$tmp/out/netlink_gen.c"
python3 "$here/attrs.py" "$root/$spec" header >"$tmp/out/shuffle_attrs.h"
python3 "$here/attrs.py" "$root/$spec" source >"$tmp/out/shuffle_attrs.c"

status=0
while read -r name to; do
	if [ "$check" = 1 ]; then
		diff -u "$root/$to" "$tmp/out/$name" || status=1
	elif ! cmp -s "$root/$to" "$tmp/out/$name"; then
		mkdir -p "$(dirname "$root/$to")"
		cp "$tmp/out/$name" "$root/$to"
		echo "$to"
	fi
done <<END
shuffle_netlink.h uapi/linux/shuffle_netlink.h
netlink_gen.h net/shuffle/netlink/netlink_gen.h
netlink_gen.c net/shuffle/netlink/netlink_gen.c
shuffle_attrs.h tools/shufflectl/shuffle_attrs.h
shuffle_attrs.c tools/shufflectl/shuffle_attrs.c
END
[ "$status" = 0 ] || echo "out of date: run 'make netlink'"
exit $status
