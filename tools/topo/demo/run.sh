#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Count the words of this machine's texts on a BCube(4,1) of 16 servers, twice: each sender sends
# its counts straight to the receiver, and servers on the way sum them.  Shows what links carry
# either way, and compares both results with that of tr, sort and uniq.  Runs in a guest, so that
# nothing of this machine is touched:
#
#   make demo-aggregate [FILES='path ...'] [SENDERS=2,5,9-11,14]
#
# Server h is the namespace ah, with a NIC for each level; switches are bridges in the namespace
# fabric.  Addresses are on lo.  A server's route to another one that is two hops away goes by the
# level-1 switch first, so both ways of counting have the same links:
#
#      l00           l01           l02           l03         level 0: servers of the same h / 4
#   a0 a1 a2 a3   a4 a5 a6 a7   a8 ... a11    a12 ... a15
#      l10           l11           l12           l13         level 1: servers of the same h % 4
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${SHUFFLE_OUT:?run this by make demo-aggregate}"
PATH=$root/build/tools:$root/tools/topo:$PATH
senders=${SENDERS:-2,5,9-11,14}
most=$((${MEGABYTES:-6} * 1000000))	# of texts
servers=16
dir=$(mktemp -d)

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	say "demo-aggregate: $*"
	exit 1
}

# Texts that a Debian machine has, and this tree's; or those that are named.
texts()
{
	local f

	if [ $# = 0 ]; then
		set -- /usr/share/doc /usr/share/common-licenses "$root/Documentation"
	fi
	for f; do
		[ -e "$f" ] || say "$f: does not exist"
	done
	{
		find "$@" -xdev -type f -size +0 -size -1000k -readable ! -name '*.gz' \
			! -name '*.svg' ! -name '*[[:space:]]*' 2>/dev/null || true
	} | LC_ALL=C sort >"$dir/found"
	# no binaries
	xargs -r grep -lI . <"$dir/found" >"$dir/text" 2>/dev/null || true
	xargs -r stat -c '%s %n' <"$dir/text" | awk -v most="$most" \
		'{ sum += $1 } sum <= most { print $2 }' >"$dir/files"
	[ -s "$dir/files" ] || die "no text files"
}

# parts SERVER... - texts to senders in turn, about as many bytes each
parts()
{
	local h i=0 f

	for h; do
		: >"$dir/in$h"
	done
	while read -r f; do
		i=$((i % $# + 1))
		# what has no line end must not be one word with what follows
		{ cat "$f"; echo; } >>"$dir/in${!i}"
	done <"$dir/files"
	: >"$dir/in0"
}

fabric()
{
	local h s

	ip netns add fabric
	for ((s = 0; s < 4; s++)); do
		echo "link add l0$s type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
		echo "link add l1$s type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
		echo "link set l0$s addrgenmode none up"
		echo "link set l1$s addrgenmode none up"
	done | ip -n fabric -batch -
	for ((h = 0; h < servers; h++)); do
		ip netns add "a$h"
		{
			echo "link add p0.$h type veth peer name eth0 netns a$h"
			echo "link add p1.$h type veth peer name eth1 netns a$h"
			echo "link set p0.$h addrgenmode none master l0$((h / 4)) up"
			echo "link set p1.$h addrgenmode none master l1$((h % 4)) up"
		} | ip -n fabric -batch -
	done
}

# server H - its addresses, and routes to all others
server()
{
	local h=$1 t

	{
		echo "link set lo up"
		echo "link set eth0 addrgenmode none up"
		echo "link set eth1 addrgenmode none up"
		echo "addr add 10.80.0.$((h + 1))/32 dev lo"
		for ((t = 0; t < servers; t++)); do
			if ((t == h)); then
				continue
			elif ((t % 4 == h % 4)); then
				echo "route add 10.80.0.$((t + 1)) dev eth1 src 10.80.0.$((h + 1))"
			elif ((t / 4 == h / 4)); then
				echo "route add 10.80.0.$((t + 1)) dev eth0 src 10.80.0.$((h + 1))"
			else
				echo "route add 10.80.0.$((t + 1)) via" \
					"10.80.0.$((t / 4 * 4 + h % 4 + 1)) dev eth1 onlink" \
					"src 10.80.0.$((h + 1))"
			fi
		done
	} | ip -n "a$h" -batch -
	ip netns exec "a$h" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}

# counters FILE - of the links, as the switches see them
counters()
{
	ip -n fabric -s -j link show >"$1.links"
}

# count NAME OP - with the roles of $dir/NAME.roles
count()
{
	local h above role json jobs=() roles=$dir/$1.roles

	say "$1: counting"
	counters "$dir/$1.before"
	while read -r h above role; do
		[ "$role" = member ] || continue
		# senders say what they have sent; the receiver prints words
		json=(--json)
		[ "$above" != - ] || json=()
		ip netns exec "a$h" shuffle-wordcount --group "$dir/group" --rank "$h" --op "$2" \
			--roles "$dir/$1.roles" "${json[@]}" "$dir/in$h" >"$dir/$1.$h" &
		jobs+=($!)
	done <"$roles"
	for h in "${jobs[@]}"; do
		wait "$h" || die "$1: a member has failed"
	done
	counters "$dir/$1.after"
	while read -r h above role; do
		[ "$role" != relay ] || echo "$h $(ip netns exec "a$h" shufflectl -j relay show | tr -d '\n')"
	done <"$roles" >"$dir/$1.relays"
}

texts "$@"
shuffle-plan --bcube 4,1 --senders "$senders" --receivers 0 --method irs --quiet \
	--table "$dir/plan" || die "no plan for SENDERS=$senders"
for ((h = 0; h < servers; h++)); do
	echo "$h 10.80.0.$((h + 1)):7000 a$h"
done >"$dir/hosts"
cut -d' ' -f2 "$dir/hosts" >"$dir/group"
shuffle-plan-install roles "$dir/plan" "$dir/hosts" >"$dir/merged.roles"
# the same members, without anybody between them and the receiver
awk '$3 == "relay" { print $1, "- none"; next }
     $3 == "member" && $2 != "-" { $2 = 0 }
     { print }' "$dir/merged.roles" >"$dir/straight.roles"
awk '$3 == "member" && $2 != "-" { print $1 }' "$dir/merged.roles" >"$dir/senders"
mapfile -t members <"$dir/senders"
parts "${members[@]}"
say "$(wc -l <"$dir/files") texts, $(cat "$dir"/in* | wc -c) bytes, on servers ${members[*]}"
say "making 16 servers and 8 switches"
fabric
for ((h = 0; h < servers; h++)); do
	server "$h"
done
count straight 1
shuffle-plan-install install "$dir/plan" "$dir/hosts" --run 'ip netns exec %h' -- sorted >&2 ||
	die "no relays"
count merged 3
say "counting with tr, sort and uniq"
cat "$dir"/in* | LC_ALL=C tr -cs 'A-Za-z0-9\200-\377' '\n' | sed '/^$/d' | LC_ALL=C sort |
	uniq -c >"$dir/right"
for f in "$dir/straight.0" "$dir/merged.0"; do
	cmp "$f" "$dir/right" || die "tr, sort and uniq make something else of the texts"
done
python3 -B "$here/report.py" "$dir" "$SHUFFLE_OUT"
