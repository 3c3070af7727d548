#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sort the lines of this machine's own files on 8 hosts, show phases and balance, and compare the
# result with that of sort(1).  Runs in a guest, so that nothing of this machine is touched:
#
#   make demo-sort [FILES='path ...']
set -euo pipefail

PATH=$PWD/build/tools:$PATH
n=8
dir=$(mktemp -d)
group=$dir/group

if [ $# = 0 ]; then
	# texts that any machine has, and this tree's
	find /etc /usr/share/common-licenses Documentation -type f -size -1000k \
		\( -name '*.rst' -o -name '*[a-z]' \) -readable 2>/dev/null | sort >"$dir/files"
	mapfile -t files <"$dir/files"
else
	files=("$@")
fi
text=()
for f in "${files[@]}"; do
	# no binaries: a key may not have bytes 0, and a line has its limits
	! grep -qI . "$f" 2>/dev/null || [ "$(wc -L <"$f")" -gt 4000 ] || text+=("$f")
done
[ ${#text[@]} -gt 0 ] || { echo "no text files" >&2; exit 1; }

ip link add rack type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip link set rack up
for ((h = 0; h < n; h++)); do
	ip netns add "h$h"
	ip link add "p$h" type veth peer name eth0 netns "h$h"
	ip link set "p$h" master rack up
	ip -n "h$h" link set lo up
	ip -n "h$h" link set eth0 up
	ip -n "h$h" addr add "10.77.0.$((h + 1))/16" dev eth0
	echo "10.77.0.$((h + 1)):7000" >>"$group"
done

echo "${#text[@]} files, $(cat "${text[@]}" | wc -l) lines, on $n hosts:"
for ((h = 0; h < n; h++)); do
	# each host has a part of the files; one without any has none
	mine=()
	for ((i = h * ${#text[@]} / n; i < (h + 1) * ${#text[@]} / n; i++)); do
		mine+=("${text[i]}")
	done
	[ ${#mine[@]} -gt 0 ] || mine=(/dev/null)
	ip netns exec "h$h" shuffle-sort -g "$group" -r "$h" -o 1 -d "$dir/out" --text --explain \
		--pivots 80 "${mine[@]}" &
done
for ((h = 0; h < n; h++)); do
	wait -n
done
echo
echo "lines of each host: $(cd "$dir/out" && wc -l [0-9] | awk '$2 != "total" { printf "%s ", $1 }')"
# a file that does not end with a line end
for f in "${text[@]}"; do
	awk 1 "$f"
done | LC_ALL=C sort -s >"$dir/want"
cat "$dir"/out/[0-9] | cmp - "$dir/want" && echo "the same as sort(1) makes of them"
