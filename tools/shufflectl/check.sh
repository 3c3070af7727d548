#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What needs no kernel: the tool builds without warnings, "make install" puts
# everything in its place, the manual pages have no errors and name every object,
# command, option, setting and event.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
man=$root/Documentation/man
spec=$root/Documentation/netlink/specs/shuffle.yaml
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

wrong()
{
	echo "$*"
	bad=1
}

make -s -C "$here" OUT="$tmp/out" UAPI="$root/uapi" CFLAGS='-O2 -Werror' PREFIX=/usr \
	DESTDIR="$tmp/dest" install || exit 1
for f in sbin/shufflectl share/bash-completion/completions/shufflectl \
	share/man/man8/shufflectl{,-op,-peer,-socket,-config,-stats,-qdisc,-monitor,-topology}.8; do
	[ -s "$tmp/dest/usr/$f" ] || wrong "not installed: $f"
done
bash -n "$here/completion.bash" || bad=1

ctl=$tmp/dest/usr/sbin/shufflectl
for object in op peer socket config stats qdisc monitor topology; do
	page=$man/shufflectl-$object.8
	for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
		grep -q "^.SH \"\{0,1\}$section" "$page" || wrong "$page: no section $section"
	done
	# every command and option that "help" names
	text=$(MANWIDTH=200 man -l "$page" | col -b)
	while read -r word; do
		grep -qwF -- "$word" <<<"$text" || wrong "$page: not a word about $word"
	done < <("$ctl" "$object" help | sed -n '/^usage:/,/^$/p' | grep -oE -- '--?[a-z]+(-[a-z]+)*|\b[a-z]{4,}\b' |
		grep -v -e usage -e shufflectl | sort -u)
done
for page in "$man"/shufflectl*.8; do
	said=$(MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null)
	[ -z "$said" ] || wrong "$page: $said"
done

settings=$(sed -n '/^    name: setting$/,/^attribute-sets/p' "$spec" | sed -n 's/^      - \([a-z-]*\)$/\1/p')
[ -n "$settings" ] || wrong "no settings in $spec"
text=$(man -l "$man/shufflectl-config.8" | col -b)
for s in $settings; do
	grep -qE "^ +$s( |\$)" <<<"$text" || wrong "shufflectl-config.8: not a word about $s"
	"$ctl" config help | grep -q "^  $s " || wrong "config help: not a word about $s"
done
text=$(man -l "$man/shufflectl-monitor.8" | col -b)
while read -r s; do
	grep -qw -- "$s" <<<"$text" || wrong "shufflectl-monitor.8: not a word about $s"
done < <(sed -n 's/^      name: \([a-z-]*\)-ntf$/\1/p' "$spec")
exit $bad
