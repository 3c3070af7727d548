#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: shufflectl topology install and remove: packets to a multicast address reach its members
# and nobody else.
# Sourced by run_all.sh, behind cases_qdisc.sh, cases_ctl.sh, cases_cool.sh and cases_same.sh.
#
# shellcheck disable=SC2154 # work, hosts: lib.sh

topology_install_cases()
{
	run_case install-v4 install_reaches 239.77.0.1 10.77.0.[1-4]
	run_case install-v6 install_reaches ff02::4242 fd77::[1-4] -6
	run_case install-over-racks install_racks
	run_case install-again-and-for-others install_again
	run_case install-is-undone-if-it-fails install_undone
	run_case install-in-a-vlan install_vlan
	run_case install-hosts-of-a-table install_table
	run_case install-errors install_errors
}

# In the namespace of the bridge.
bctl()
{
	ctl -n "${PFX}br" "$@"
}

# flood on|off - multicast that a bridge knows nothing about, at all ports
flood()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		echo "link set dev p$h mcast_flood $1"
	done | bridge -n "${PFX}br" -batch - || fail "mcast_flood $1"
}

# What install may change: options, names and entries, but for those that hosts' reports make.
bridge_state()
{
	ip -n "${PFX}br" -d link show type bridge |
		grep -oE '^[0-9]+: [^:]*|mcast_(snooping|querier) [01]|altname .*'
	bridge -n "${PFX}br" -d mdb show | grep permanent
	ip -n "${PFX}br" route show table all proto 83
	ip -n "${PFX}br" -6 route show table all proto 83
}

is_as_before()
{
	bridge_state | diff "$work/before" - || fail "$1: the bridge is not as it was"
}

# entries GROUP - ports with permanent entries
entries()
{
	bridge -n "${PFX}br" mdb show | grep "grp $1 permanent" | sed 's/.* port \([^ ]*\) .*/\1/' |
		sort | tr '\n' ' '
}

# has_entries GROUP PORTS
has_entries()
{
	[ "$(entries "$1")" = "$2" ] || fail "entries of $1 on $(entries "$1")and not on $2"
}

# What a host has received, in bytes.
received()
{
	# shellcheck disable=SC2016 # for awk
	nsx "h$1" awk '$1 == "eth0:" { print $2 }' /proc/net/dev
}

# rows MEMBERS HOST OPTIONS... - among the first hosts.  $bytes: what HOST has received, $left: what
# members have sent, without headers and what was sent again.
rows()
{
	local n=$1 h=$2 out in all=$hosts
	shift 2

	in=$(received "$h")
	out=$(counters DataBytesOut)
	hosts=$n
	same "$@" 8 100000
	hosts=$all
	bytes=$(($(received "$h") - in))
	left=$(($(counters DataBytesOut) - out))
}

# all_alone WHEN - none of four members has got what others have sent to all: each byte leaves a
# host for each of the others
all_alone()
{
	want_ge "$1: only $left bytes have left the hosts" "$left" 2400000
	! nothing_late || [ "$(left_alone)" = 12 ] ||
		fail "$1: $(left_alone) are alone, not each for each"
}

# none_alone WHEN - all members have got that: each byte leaves a host once
none_alone()
{
	want_lt "$1: $left bytes have left the hosts" "$left" 2400000
	nothing_late || return 0
	[ "$left" = 800000 ] || fail "$1: $left bytes have left the hosts, not 800000"
	[ "$(left_alone)" = 0 ] || fail "$1: $(left_alone) are alone"
}

# install_reaches GROUP HOSTS OPTIONS... - of five hosts four are members
install_reaches()
{
	local group=$1 members=$2 bytes left
	shift 2

	need_ipv6
	new_rack 5
	want_ok "no address" ip -n "${PFX}br" addr add fe80::1/64 dev br0 nodad
	bridge_state >"$work/before"
	rows 4 4 "$@"
	want_gt "a bridge that does not snoop spares host 4" "$bytes" 400000
	flood off
	rows 4 4 "$@"
	all_alone "before"
	bctl -j topology install "$group" members "$members" >"$work/said" ||
		fail "install: got status $?, want 0"
	python3 -m json.tool "$work/said" >"$work/json" || fail "no JSON: got status $?, want 0"
	has_entries "$group" 'p0 p1 p2 p3 '
	rows 4 4 "$@"
	none_alone "installed"
	# now the bridge could send to host 4 what it has no entry for
	flood on
	rows 4 4 "$@"
	none_alone "installed, with mcast_flood on"
	want_lt "host 4, which is no member, has received $bytes bytes" "$bytes" 100000
	bctl topology remove "$group" >"$work/said" || fail "remove: got status $?, want 0"
	is_as_before "remove"
	flood off
	rows 4 4 "$@"
	all_alone "after"
}

# Two racks and a core, the members in one rack: the other one gets nothing, and then in both.
install_racks()
{
	local bytes left

	cool_net 4 2
	# without a table of routes all addresses would be broadcast ones
	want_ok "no loopback" ip -n "${PFX}br" link set lo up
	bridge_state >"$work/before"
	bctl topology install 239.77.0.1 members 10.77.0.[1-4] >"$work/said" ||
		fail "install: got status $?, want 0"
	has_entries 239.77.0.1 'c0 p0 p1 p2 p3 t1 '
	rows 4 5
	none_alone "a rack"
	want_lt "the other rack has received $bytes bytes" "$bytes" 100000
	bctl topology install 239.77.0.1 --bridge rack1 members 10.77.0.[1-8] >"$work/said" ||
		fail "install on one bridge: got status $?, want 0"
	has_entries 239.77.0.1 'c0 p0 p1 p2 p3 p4 p5 p6 p7 t1 '
	bctl topology install 239.77.0.1 members 10.77.0.[1-8] >"$work/said" ||
		fail "install more: got status $?, want 0"
	has_entries 239.77.0.1 'c0 c1 p0 p1 p2 p3 p4 p5 p6 p7 t0 t1 '
	rows 8 5
	none_alone "both racks"
	bctl topology remove 239.77.0.1 >"$work/said" || fail "remove: got status $?, want 0"
	is_as_before "remove"
}

kernel_notes_protocol()
{
	[[ $(uname -r) != [1-5].* && $(uname -r) != 6.[0-2].* ]]
}

# What is there stays and is said; what others have made stays; options stay as long as needed.
install_again()
{
	need_ipv6
	new_rack 3
	want_ok "no address" ip -n "${PFX}br" addr add fe80::1/64 dev br0 nodad
	bridge_state >"$work/before"
	bctl topology install 239.77.0.1 --dry-run members 10.77.0.1 port p1 >"$work/would" ||
		fail "dry run: got status $?, want 0"
	is_as_before "dry run"
	bctl topology install 239.77.0.1 --no-wait members 10.77.0.1 port p1 >"$work/said" ||
		fail "install: got status $?, want 0"
	want_ok "a dry run says something else" diff "$work/would" "$work/said"
	want_eq "not two new entries" "$(grep -c 'entry new' "$work/said")" 2
	has_entries 239.77.0.1 'p0 p1 '
	bctl topology install 239.77.0.1 members 10.77.0.1 port p1 >"$work/said" ||
		fail "again: got status $?, want 0"
	want_eq "again: not what is there" "$(grep -c 'entry there' "$work/said")" 2
	want_no_grep "again: something is new" "$(<"$work/said")" new
	# an entry that would end with its timer
	want_ok "no entry" bridge -n "${PFX}br" mdb add dev br0 port p2 grp 239.77.0.1 temp
	bctl topology install 239.77.0.1 port p2 members 10.77.0.3 >"$work/said" ||
		fail "a report: got status $?, want 0"
	want_grep "not new" "$(<"$work/said")" 'port p2 .*entry new .*10.77.0.3'
	has_entries 239.77.0.1 'p0 p1 p2 '
	# a second address
	bctl topology install ff02::7 --no-wait port p0 --route br0 >"$work/said" ||
		fail "IPv6: got status $?, want 0"
	want_grep "no route" \
		"$(ip -n "${PFX}br" -6 route get ff02::7)" 'ff02::7 .*dev br0 .*proto 83'
	bctl topology remove 239.77.0.1 --dry-run >"$work/would" ||
		fail "dry run of remove: got status $?, want 0"
	has_entries 239.77.0.1 'p0 p1 p2 '
	bctl topology remove 239.77.0.1 >"$work/said" || fail "remove: got status $?, want 0"
	want_ok "a dry run of remove says something else" diff "$work/would" "$work/said"
	has_entries 239.77.0.1 ''
	has_entries ff02::7 'p0 '
	want_grep "the other address needs it" "$(bridge_state)" 'mcast_snooping 1'
	if kernel_notes_protocol; then
		want_ok "no entry" \
			bridge -n "${PFX}br" mdb add dev br0 port p1 grp ff02::7 permanent
		bctl topology install ff02::7 port p1 >"$work/said" ||
			fail "others' entry: got status $?, want 0"
		bctl topology remove ff02::7 >"$work/said" || fail "remove: got status $?, want 0"
		has_entries ff02::7 'p1 '
		want_ok "no entry" \
			bridge -n "${PFX}br" mdb del dev br0 port p1 grp ff02::7 permanent
	fi
	bctl topology remove ff02::7 >"$work/said" || fail "remove: got status $?, want 0"
	is_as_before "remove"
	bctl topology remove ff02::7 >"$work/said" || fail "remove again: got status $?, want 0"
	want_eq "remove again" "$(<"$work/said")" ""
	# what was on stays on
	want_ok "no snooping" ip -n "${PFX}br" link set br0 type bridge mcast_snooping 1
	bridge_state >"$work/before"
	bctl topology install 239.77.0.1 --no-wait port p0 >"$work/said" ||
		fail "install: got status $?, want 0"
	want_grep "said" "$(<"$work/said")" 'snooping there  querier new'
	bctl topology remove 239.77.0.1 >"$work/said" || fail "remove: got status $?, want 0"
	is_as_before "remove where a bridge snoops"
}

# The last step fails: somebody else's route is there.
install_undone()
{
	local group

	need_ipv6
	new_rack 3
	want_ok "no address" ip -n "${PFX}br" addr add fe80::1/64 dev br0 nodad
	want_ok "no route" ip -n "${PFX}br" route add 239.77.0.1/32 dev br0
	want_ok "no route" ip -n "${PFX}br" -6 route add multicast ff02::7/128 dev br0 table local
	bridge_state >"$work/before"
	for group in 239.77.0.1 ff02::7; do
		refused 2 'exists' bctl topology install $group port p0 port p1 --route br0
		is_as_before "an install of $group that fails"
		bctl topology install $group --no-wait port p0 >"$work/said" ||
			fail "install: got status $?, want 0"
		refused 2 'exists' bctl topology install $group port p0 port p1 --route br0
		has_entries $group 'p0 '
		bctl topology remove $group >"$work/said" || fail "remove: got status $?, want 0"
		is_as_before "remove"
	done
	want_grep "somebody else's route is gone" "$(ip -n "${PFX}br" route show 239.77.0.1)" br0
}

install_vlan()
{
	new_rack 3
	ip -n "${PFX}br" link set br0 type bridge vlan_filtering 1 || skip "no VLANs"
	bridge_state >"$work/before"
	nsx h0 ping -c 1 -W 5 10.77.0.3 >"$work/said" || fail "no way: got status $?, want 0"
	bctl topology install 239.77.0.1 --no-wait members 10.77.0.1,10.77.0.3 >"$work/said" ||
		fail "install: got status $?, want 0"
	want_eq "not in VLAN 1" \
		"$(bridge -n "${PFX}br" mdb | grep -c 'grp 239.77.0.1 permanent.* vid 1')" 2
	refused 1 'which one? --vlan' bctl topology install 239.77.0.1 port p1
	bctl topology install 239.77.0.1 --vlan 1 port p1 >"$work/said" ||
		fail "install in VLAN 1: got status $?, want 0"
	has_entries 239.77.0.1 'p0 p1 p2 '
	bctl topology remove 239.77.0.1 >"$work/said" || fail "remove: got status $?, want 0"
	is_as_before "remove"
}

# Members from the table of racks, and from a file.
install_table()
{
	new_rack 3
	printf '10.77.0.1 a\n10.77.0.3 b\nfd77::1 a\n' >"$work/file"
	refused 3 'no table of racks' bctl topology install 239.77.0.1
	bctl topology load "$work/file" >"$work/said" || fail "load: got status $?, want 0"
	bctl topology install 239.77.0.1 --no-wait >"$work/said" ||
		fail "install: got status $?, want 0"
	has_entries 239.77.0.1 'p0 p2 '
	bctl topology install 239.77.0.2 --no-wait file - hadoop <<<'10.77.0.2 b' >"$work/said" ||
		fail "a file: got status $?, want 0"
	has_entries 239.77.0.2 'p1 '
	want_ok "clear" bctl topology clear
	bctl topology load - <<<'10.77.0.0/16 a' >"$work/said" || fail "load: got status $?, want 0"
	refused 3 'is many addresses' bctl topology install 239.77.0.1
}

install_errors()
{
	new_rack 2
	bridge_state >"$work/before"
	refused 1 'which multicast address' bctl topology install
	refused 1 'which multicast address' bctl topology install members
	refused 1 'no IP address' bctl topology install 239.7
	refused 1 'no multicast address' bctl topology install 10.77.0.1 port p0
	refused 1 'no multicast address' bctl topology install fd77::1 port p0
	refused 1 'all hosts of a network anyhow' bctl topology install 224.0.0.5 port p0
	refused 1 'is none of file, members and port' bctl topology install 239.7.0.1 p0
	refused 1 'unknown here' bctl topology install 239.7.0.1 --force port p0
	refused 1 'unknown here' bctl topology remove 239.7.0.1 --no-wait
	refused 1 'means nothing' bctl topology remove 239.7.0.1 port p0
	refused 3 'no device "p7"' bctl topology install 239.7.0.1 port p7
	refused 3 'no device "p7"' bctl topology install 239.7.0.1 port p0 --route p7
	refused 3 'lo is no port' bctl topology install 239.7.0.1 port lo
	refused 3 'lo is no bridge' bctl topology install 239.7.0.1 --bridge lo port p0
	refused 3 'no port of a bridge leads to 10.77.0.7' \
		bctl topology install 239.7.0.1 members 10.77.0.[1,7]
	refused 3 'no member has an IPv6 address' bctl topology install ff02::7 members 10.77.0.1
	want_ok "br0 keeps its addresses" ip -n "${PFX}br" -6 addr flush dev br0
	refused 3 'needs a link-local address' bctl topology install ff02::7 port p0
	refused 3 'there is no bridge here' hctl 0 topology install 239.7.0.1 members 10.77.0.2
	refused 2 'not permitted' nobody br topology install 239.7.0.1 port p0
	refused 2 'not permitted' nobody br topology install 239.7.0.1 members 10.77.0.1
	is_as_before "what is refused"
	bctl topology install 239.7.0.1 --no-wait port p0 >"$work/said" ||
		fail "install: got status $?, want 0"
	refused 2 'not permitted' nobody br topology remove 239.7.0.1
	has_entries 239.7.0.1 'p0 '
	# a host that only sends
	hctl 1 topology install 239.7.0.1 --route eth0 >"$work/said" ||
		fail "a route only: got status $?, want 0"
	want_grep "no route" "$(ip -n "${PFX}h1" route get 239.7.0.1)" 'dev eth0'
	hctl 1 topology remove 239.7.0.1 >"$work/said" || fail "remove: got status $?, want 0"
	want_eq "the route is still there" "$(ip -n "${PFX}h1" route show 239.7.0.1)" ""
}
