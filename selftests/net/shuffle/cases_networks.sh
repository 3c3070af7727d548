#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: to which process and user a packet is charged, which way it goes, and networks of
# other kinds than a rack.  Sourced by run_all.sh.
#
#   underlay N     a rack whose addresses are on another device than its links
#
#      shf-h0              shf-h1              host h: ov 10.77.0.h+1/16, fd77::h+1/64
#      [ov]                [ov]                        eth0 10.76.0.h+1/16
#      [eth0]              [eth0]
#        |                   |
#     ---[p0]---------------[p1]---  br0, namespace shf-br
#
# shellcheck disable=SC2034,SC2154 # work, slow, KEEP, peer_pid: lib.sh, other cases

networks_cases()
{
	local v

	for v in 4 6; do
		run_case "ipsec-v$v-no-clear" ipsec_no_clear "$v"
		run_case "mtu-black-hole-v$v" mtu_black_hole "$v"
	done
	run_case "cgroup-egress-filter" cgroup_filter
	run_case "nft-skuid" nft_skuid
	run_case "device-bound-receive" device_receive
	run_case "socket-filter-refused" filter_refused
	run_case "egress-dead-host" dead_host
	run_case "network-vlan" overlay vlan
	run_case "network-vxlan" overlay vxlan
	run_case "network-ipvlan" overlay ipvlan
	run_case "network-wireguard" overlay wireguard 25
	run_case "network-nft-stateful" nft_stateful
	run_case "network-bond-fail-over" bond_fail_over
	run_case "network-ecmp" ecmp
	run_case "network-vrf" vrf
}

# ---- IPsec ----

host_addr()
{
	if [ "$1" = 4 ]; then
		echo "10.77.0.$(($2 + 1))"
	else
		printf 'fd77::%x\n' $(($2 + 1))
	fi
}

# esp_pair V FROM TO - what FROM sends to TO by UDP needs ESP.
esp_pair()
{
	local src dst spi h dir

	src=$(host_addr "$1" "$2")
	dst=$(host_addr "$1" "$3")
	spi=$((256 + 16 * $2 + $3))
	for h in "$2" "$3"; do
		dir=out
		[ "$h" = "$2" ] || dir=in
		ip -n "shf-h$h" xfrm state add src "$src" dst "$dst" proto esp spi "$spi" reqid 7 \
			mode transport aead 'rfc4106(gcm(aes))' \
			"0x$(printf '%040x' $((spi * 7919)))" 128 || return 1
		ip -n "shf-h$h" xfrm policy add src "$src" dst "$dst" proto udp dir "$dir" \
			tmpl src "$src" dst "$dst" proto esp reqid 7 mode transport || return 1
	done
}

# count_protocol V PREF PROTOCOL - on its way from every host into the bridge
count_protocol()
{
	local h proto=ip match=ip

	[ "$1" = 4 ] || { proto=ipv6; match=ip6; }
	for ((h = 0; h < hosts; h++)); do
		tc -n shf-br qdisc add dev "p$h" clsact 2>/dev/null
		tc -n shf-br filter add dev "p$h" ingress pref "$2" protocol $proto \
			u32 match $match protocol "$3" 0xff action pass || skip "no u32"
	done
}

counted_protocol()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		tc -n shf-br -s filter show dev "p$h" ingress pref "$1"
	done | awk '/Sent .* pkt/ { sum += $4 } END { print sum + 0 }'
}

# little_is_sent_again [MOST] - nothing is taken for lost that was only slow: at most 1 %, and
# where encryption takes time (qemu lanes: instructions are counted) at most MOST %; more than
# 1 % is said there.  One super-packet, 3 % of what is sent here, may have waited for its CPU:
# the two of these lanes take turns.  In real time the whole machine may stand still.
little_is_sent_again()
{
	local sent again most=1

	sent=$(counters DataBytesOut)
	again=$(counters RetransBytes)
	diag "sent $sent bytes, again $again, arrived twice $(counters DupBytes)"
	[ $((again * 100)) -gt "$sent" ] || return 0
	diag "goal missed: more than 1 % was sent again"
	[ -n "${SHUFFLE_VIRTUAL-}" ] || return 0
	[[ $LANE == uml* ]] || most=${1:-1}
	[ $((again * 100)) -le $((sent * most)) ] || [ "$again" -le 65536 ] || fail "more than $most % was sent again"
}

ipsec_no_clear()
{
	local v=$1 i j clear

	new_rack 3
	# One by one, drbg last: it looks for the others within 60 s of its own self-test, which
	# pass where time is virtual and the host is slow to read them; the kernel warns then.
	modprobe -aq esp4 esp6 xfrm_user gcm ghash_generic ghash_clmulni_intel cls_u32 act_gact \
		sha512_generic sha512_ssse3 sha3_generic ctr seqiv ansi_cprng drbg 2>/dev/null
	for ((i = 0; i < 3; i++)); do
		for ((j = 0; j < 3; j++)); do
			[ "$i" = "$j" ] || esp_pair "$v" "$i" "$j" || skip "no ESP"
		done
	done
	count_protocol "$v" 1 17
	count_protocol "$v" 2 50
	# all sockets are there before anything is sent to them
	peer n=3 delay=500 v6=$((v == 6)) matrix=uniform:"$(sz 300000 60000)" || shuffle_failed
	clear=$(counted_protocol 1)
	diag "packets: clear $clear, ESP $(counted_protocol 2)"
	want_eq "$clear packets in clear" "$clear" 0
	want_gt "no ESP packets" "$(counted_protocol 2)" 100
	# "Where the goals are missed" in Documentation/performance.rst
	little_is_sent_again 25
}

# ---- attribution ----

# Only what the group's own processes send is dropped, whoever opened the UDP sockets.
cgroup_filter()
{
	local cg=$work/cg

	mkdir "$cg"
	mount -t cgroup2 none "$cg" 2>/dev/null || { rmdir "$cg"; skip "no cgroup2"; }
	# shellcheck disable=SC2064 # now
	trap "cgroup_end $cg" EXIT
	mkdir "$cg/mute" || skip "no cgroup"
	"$BIN/cgroup_drop" "$cg/mute" || { [ $? != 2 ] || skip "no cgroup BPF"; fail "no filter"; }
	new_rack 2
	diag "the group's process is the first that binds"
	want_ok "what the group sends gets through" muted_peer "$cg" n=2 op=1
	diag "others are not affected"
	peer n=2 op=11 matrix=others:50000 || shuffle_failed
	new_rack 2
	diag "the group's process is not the first"
	peer n=2 op=21 matrix=others:50000 || shuffle_failed
	want_ok "what the group sends gets through" muted_peer "$cg" n=2 op=31
}

muted_peer()
{
	local cg=$1 muted
	shift

	(
		echo "$BASHPID" >"$cg/mute/cgroup.procs" || exit 1
		peer "$@" 1:absent=1 matrix=others:5000 deadline=3000 expect=ETIMEDOUT
	) &
	muted=$!
	peer "$@" 0:absent=1 matrix=others:5000 deadline=3000 expect=ETIMEDOUT 1:missing=0 || return 1
	wait "$muted"
}

cgroup_end()
{
	rmdir "$1/mute" 2>/dev/null
	umount "$1" 2>/dev/null
	rmdir "$1"
}

need_nft()
{
	command -v nft >/dev/null || skip "no nft"
	modprobe -aq nf_tables nft_ct nft_limit 2>/dev/null
	nsx h0 nft add table inet t 2>/dev/null || skip "no nf_tables"
}

nft_skuid()
{
	local n

	new_rack 2
	need_nft
	nsx h0 nft -f - <<-'END' || skip "no rule"
		table inet t {
			counter mine { }
			chain out {
				type filter hook output priority 0
				meta l4proto udp meta skuid 0 counter name mine
			}
		}
	END
	peer n=2 matrix=others:50000 || shuffle_failed
	n=$(nsx h0 nft list counter inet t mine | awk '$1 == "packets" { print $2 }')
	diag "packets with a user: $n"
	want_gt "nft sees no user" "${n:-0}" 0
}

# What comes in by another device than the socket's is not for it.
device_receive()
{
	new_rack 2
	dummy_device
	want_ok "data came in spite of the device" \
		peer n=2 matrix=others:5000 0:device=dummy0 deadline=2000 expect=ETIMEDOUT
	want_gt "packets of another device have been taken" "$(counter 0 DropDevice)" 0
	want_eq "packets of no particular device were dropped" "$(counter 1 DropDevice)" 0
	peer n=2 matrix=uniform:5000 0:device=eth0 || shuffle_failed
}

# A filter that is never run must not be accepted.
filter_refused()
{
	python3 - <<-'END'
		import ctypes, errno, socket, struct, sys
		s = socket.socket(18, socket.SOCK_SEQPACKET, 0)
		code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
		prog = struct.pack("@HP", 1, ctypes.addressof(code))
		try:
		    s.setsockopt(socket.SOL_SOCKET, 26, prog)
		except OSError as e:
		    sys.exit(e.errno != errno.EPERM)
		sys.exit("SO_ATTACH_FILTER was accepted")
	END
}

# ---- a host that does not answer ----

# Nobody answers for host 3's address, for as long as the test takes.  With small units
# the old rule, one of them every 10 ms, would take minutes.
dead_host()
{
	new_rack 4
	config_all unscheduled 64k
	config_all rtt-bytes 3k
	nsx h0 sysctl -qw net.ipv4.neigh.eth0.mcast_solicit=1000
	ip -n shf-br link set p3 down
	peer n=4 3:absent=1 matrix="onerow:$(sz 4000000 1000000):0" ops=2 \
		deadline=$((12000 + 8000 * slow)) expect=ETIMEDOUT,ETIMEDOUT 0-2:missing=3 \
		>"$work/dead.log" 2>&1 &
	peer_pid=$!
	want_ok "nothing is sent" wait_for 10 has_counted 0 DataBytesOut 60000
	peer n=3 op=900 port=7100 matrix="uniform:$(sz 2000000 500000)" || shuffle_failed "another socket"
	want_ok "the dead host was not waited for" kill -0 "$peer_pid"
	wait "$peer_pid" || { cat "$work/dead.log"; shuffle_failed "other members"; }
	diag "stuck: $(counter 0 EgressStuck), not sent: $(counter 0 NoNeigh)"
}

# ---- other networks ----

underlay()
{
	local h

	new_rack "$1"
	for ((h = 0; h < hosts; h++)); do
		ip -n "shf-h$h" addr flush dev eth0
		ip -n "shf-h$h" addr add "10.76.0.$((h + 1))/16" dev eth0
	done
}

# The shuffle's addresses are on that device.
overlay_addr()
{
	ip -n "shf-h$1" -batch - <<-END || fail "no address on $2"
		link set $2 up
		addr add 10.77.0.$(($1 + 1))/16 dev $2
		${no6}addr add fd77::$(printf %x $(($1 + 1)))/64 dev $2 nodad
	END
}

# overlay KIND [MOST] - MOST: "Where the goals are missed" in Documentation/performance.rst
overlay()
{
	local h

	underlay 4
	modprobe -aq 8021q vxlan ipvlan wireguard 2>/dev/null
	for ((h = 0; h < hosts; h++)); do
		"overlay_$1" "$h" || skip "no $1"
		overlay_addr "$h" ov
	done
	[ "$1" != wireguard ] || wireguard_keys
	# all sockets are there before anything is sent to them
	peer n=4 delay=500 matrix="skew:$(sz 100000 20000)" || shuffle_failed
	peer n=4 delay=500 v6="$ipv6" matrix="uniform:$(sz 200000 50000)" || shuffle_failed "IPv6"
	little_is_sent_again "${2-}"
}

overlay_vlan()
{
	ip -n "shf-h$1" link add link eth0 name ov type vlan id 5
}

overlay_ipvlan()
{
	ip -n "shf-h$1" link add link eth0 name ov type ipvlan mode l2
}

overlay_vxlan()
{
	local h

	ip -n "shf-h$1" link add ov type vxlan id 5 dev eth0 dstport 4789 || return 1
	for ((h = 0; h < hosts; h++)); do
		[ "$h" = "$1" ] || nsx "h$1" bridge fdb append 00:00:00:00:00:00 dev ov dst "10.76.0.$((h + 1))"
	done
}

overlay_wireguard()
{
	local h j

	command -v wg >/dev/null || skip "no wg"
	ip -n "shf-h$1" link add ov type wireguard || return 1
	wg genkey >"$work/key$1"
	wg pubkey <"$work/key$1" >"$work/pub$1"
	nsx "h$1" wg set ov listen-port 51820 private-key "$work/key$1"
	[ "$1" = $((hosts - 1)) ] || return 0
	for ((h = 0; h < hosts; h++)); do
		for ((j = 0; j < hosts; j++)); do
			[ "$h" = "$j" ] || nsx "h$h" wg set ov peer "$(cat "$work/pub$j")" \
				allowed-ips "10.77.0.$((j + 1))/32,fd77::$(printf %x $((j + 1)))/128" \
				endpoint "10.76.0.$((j + 1)):51820" || return 1
		done
	done
}

# Two hosts that ask each other for keys at once may both refuse, and ask again after five
# seconds: one of each pair asks.
wireguard_keys()
{
	local h j

	for ((h = 0; h < hosts; h++)); do
		for ((j = h + 1; j < hosts; j++)); do
			nsx "h$h" ping -qc1 -W10 "10.77.0.$((j + 1))" >/dev/null ||
				fail "no keys between hosts $h and $j"
		done
	done
}

nft_stateful()
{
	local h

	new_rack 3
	need_nft
	for ((h = 0; h < hosts; h++)); do
		nsx "h$h" nft -f - <<-'END' || skip "no connection tracking"
			table inet t {
				chain in {
					type filter hook input priority 0; policy drop;
					iif lo accept
					meta l4proto { icmp, ipv6-icmp } accept
					ct state established,related accept
					ct state invalid drop
					udp dport { 818, 18518 } ct state new accept
				}
			}
		END
	done
	peer n=3 matrix="uniform:$(sz 200000 50000)" || shuffle_failed
	peer n=3 v6="$ipv6" matrix="uniform:$(sz 200000 50000)" || shuffle_failed "IPv6"
}

# second_links BRIDGE - eth1 of every host, on br0 or on br1, which is made.
second_links()
{
	local h

	{
		echo "link add br1 type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
		echo "link set br1 up"
		for ((h = 0; h < hosts; h++)); do
			echo "link add q$h type veth peer name eth1 netns shf-h$h"
			echo "link set q$h master $1 up"
		done
	} | ip -n shf-br -batch - || fail "no second links"
}

# Active-backup; the active link of host 1 goes in the middle.
bond_fail_over()
{
	local h d

	modprobe -q bonding 2>/dev/null
	underlay 3
	second_links br0
	for ((h = 0; h < hosts; h++)); do
		ip -n "shf-h$h" link add ov type bond mode active-backup miimon 50 || skip "no bonding"
		for d in eth0 eth1; do
			ip -n "shf-h$h" link set "$d" down
			want_ok "no slave" ip -n "shf-h$h" link set "$d" master ov
		done
		overlay_addr "$h" ov
	done
	rate_bond 10
	in_the_middle n=3 matrix=others:400000
	ip -n shf-h1 link set eth0 down
	ip -n shf-br link set p1 down
	peer_end || shuffle_failed
	want_grep "no fail-over" "$(nsx h1 cat /proc/net/bonding/ov)" 'Currently Active Slave: eth1'
}

rate_bond()
{
	local h

	modprobe -q sch_tbf 2>/dev/null
	for ((h = 0; h < hosts; h++)); do
		tc -n "shf-h$h" qdisc replace dev ov root tbf rate "$1mbit" burst 9100 limit 2000000 ||
			skip "no tbf"
	done
}

link_tx_bytes()
{
	ip -n "shf-h$1" -s link show dev "$2" | awk '/TX:/ { getline; print $1 }'
}

# Two links of the same cost to every host.  Pairs have source ports of their own, so both
# carry some of the twelve pairs.
ecmp()
{
	local h j n

	underlay 4
	second_links br1
	for ((h = 0; h < hosts; h++)); do
		nsx "h$h" sysctl -qw net.ipv4.fib_multipath_hash_policy=1 net.ipv4.conf.all.rp_filter=0
		# always the same paths, where the kernel can do that: in 1 of 2000 cases all
		# pairs have the same one
		nsx "h$h" sysctl -qw net.ipv4.fib_multipath_hash_seed=1 2>/dev/null
		ip -n "shf-h$h" link set eth1 up
		ip -n "shf-h$h" addr add "10.75.0.$((h + 1))/16" dev eth1
		ip -n "shf-h$h" addr add "10.77.0.$((h + 1))/32" dev lo
	done
	for ((h = 0; h < hosts; h++)); do
		for ((j = 0; j < hosts; j++)); do
			[ "$h" = "$j" ] || ip -n "shf-h$h" route add "10.77.0.$((j + 1))/32" \
				src "10.77.0.$((h + 1))" nexthop via "10.76.0.$((j + 1))" \
				nexthop via "10.75.0.$((j + 1))" || skip "no multipath routes"
		done
	done
	peer n=4 matrix="uniform:$(sz 200000 50000)" || shuffle_failed
	for j in eth0 eth1; do
		n=0
		for ((h = 0; h < hosts; h++)); do
			n=$((n + $(link_tx_bytes "$h" $j)))
		done
		diag "$j: $n bytes"
		# One message is 1/12 of all bytes.
		want_ge "$j carries nothing" $((n * 16)) "$(counters DataBytesOut)"
	done
}

# In a VRF: a socket bound to it, and one bound to its slave.
vrf()
{
	local h

	new_rack 3
	modprobe -q vrf 2>/dev/null
	for ((h = 0; h < hosts; h++)); do
		ip -n "shf-h$h" link add red type vrf table 10 || skip "no VRF"
		ip -n "shf-h$h" link set red up
		ip -n "shf-h$h" link set eth0 master red
		ip -n "shf-h$h" addr replace "10.77.0.$((h + 1))/16" dev eth0
		# wildcard UDP sockets, as ours, hear nothing of a VRF without it
		nsx "h$h" sysctl -qw net.ipv4.udp_l3mdev_accept=1
	done
	peer n=3 0:device=red 1-2:device=eth0 matrix=others:50000 || shuffle_failed
}

# The far link is narrower, and ICMP does not come back: nobody says so.
mtu_black_hole()
{
	local v=$1 h shrunk

	routed 3
	modprobe -aq cls_u32 act_gact 2>/dev/null
	ip -n shf-h1 link set eth0 mtu 1300
	ip -n shf-br link set p1 mtu 1300
	for h in 0 2; do
		tc -n shf-br qdisc add dev "p$h" clsact || skip "no clsact"
		tc -n shf-br filter add dev "p$h" egress pref 1 protocol ip \
			u32 match ip protocol 1 0xff action drop || skip "no u32"
		tc -n shf-br filter add dev "p$h" egress pref 2 protocol ipv6 \
			u32 match ip6 protocol 58 0xff match u8 2 0xff at 40 action drop || skip "no u32"
	done
	peer n=3 net=1 v6=$((v == 6)) matrix="others:$(sz 300000 60000)" 2:want=1 ||
		shuffle_failed
	shrunk=$(counter 0 PathShrunk)
	want_gt "the path was not narrow" "$shrunk" 0
	# what one group has been told by its members is nothing that others go by
	peer n=3 net=1 v6=$((v == 6)) matrix="others:$(sz 300000 60000)" || shuffle_failed
	want_gt "another group has believed it" "$(counter 0 PathShrunk)" "$shrunk"
	diag "sent $(counters DataBytesOut), again $(counters RetransBytes), shrunk: $(counters PathShrunk)"
}
