#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A rack of hosts: network namespaces h0..hN-1, each with one veth (eth0) whose
# other end (p0..pN-1) is a port of one bridge in the current namespace.
#
#   h0 eth0 ---- p0 \
#   h1 eth0 ---- p1 -+- rack (bridge)      addresses 10.18.0.1, 10.18.0.2, ...
#   h2 eth0 ---- p2 /
#
# A port delays what goes to its host, then both directions have the same queues:
#
#   [port only: 1: netem delay] -> 2: tbf -> 3: prio -> 10: bfifo  band 0, control
#                                                   \-> 11: bfifo  band 1, the rest
#
# A round trip crosses two ports: 4 us.  No netem on the hosts: it takes packets
# away from their sockets, and then neither TCP small queues nor anybody else
# can tell how much waits in the host's own queue (on a real NIC they can).
# For the same reason that queue is deep: a host does not drop what it sends
# itself, it waits; the buffers of the ports are the scarce ones.  The small burst of tbf makes it
# segment super-packets, so the queues hold real packets; the bands count their
# own bytes because prio under tbf ignores the limit of tbf.  Band 0 takes
# skb->priority 6 and 7 on a host, and DSCP CS6 and CS7 everywhere (crossing a
# veth clears skb->priority).
#
# rate=none leaves all queues out: only the CPU limits such a rack.
#
# usage: rack.sh up HOSTS [rate=25gbit|none] [mtu=1500] [buffer=1000000]
#                         [hostbuffer=64000000] [control=64000] [delay=2us]
#                         [hostdelay=0] [family=4|6|46]
#        rack.sh down
#        rack.sh check HOSTS        ping h0 -> others, prints the RTT
#        rack.sh show HOSTS         tc -s of all band queues
set -euo pipefail

die()
{
	printf 'rack.sh: %s\n' "$*" >&2
	exit 1
}

addr4() { printf '10.18.%d.%d' $((($1 + 1) / 256)) $((($1 + 1) % 256)); }
addr6() { printf 'fd18::%x' $(($1 + 1)); }
mac() { printf '02:18:00:00:%02x:%02x' $((($1 + 1) / 256)) $((($1 + 1) % 256)); }

# qdiscs DEV BUFFER DELAY QUEUE - commands for tc -batch; DELAY 0 for none, QUEUE
# is the qdisc of band 1
qdiscs()
{
	local dev=$1 buf=$2 parent=root

	[ "$rate" != none ] || return 0
	if [ "$3" != 0 ]; then
		echo "qdisc add dev $dev root handle 1: netem delay $3 limit 1000000"
		parent='parent 1:1'
	fi
	cat <<-END
	qdisc add dev $dev $parent handle 2: tbf rate $rate burst $burst limit $buf
	qdisc add dev $dev parent 2:1 handle 3: prio bands 2 priomap 1 1 1 1 1 1 0 0 1 1 1 1 1 1 1 1
	qdisc add dev $dev parent 3:1 handle 10: bfifo limit $control
	qdisc add dev $dev parent 3:2 handle 11: $4
	filter add dev $dev parent 3: protocol ip prio 1 u32 match ip tos 0xc0 0xc0 flowid 3:1
	END
	case $family in
	*6*) echo "filter add dev $dev parent 3: protocol ipv6 prio 2 u32 match ip6 priority 0xc0 0xc0 flowid 3:1" ;;
	esac
}

rack_up()
{
	local n=$1 i j tmp

	tmp=$(mktemp -d)
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$tmp'" EXIT

	sysctl -q -w net.core.netdev_max_backlog=10000000
	for i in 4 6; do
		sysctl -q -w net.ipv$i.neigh.default.gc_thresh3=1048576 \
			net.ipv$i.neigh.default.gc_thresh2=1048576 \
			net.ipv$i.neigh.default.gc_thresh1=1048576 2>/dev/null || true
	done

	ip link add rack type bridge stp_state 0 mcast_snooping 0 forward_delay 0
	ip link set rack mtu "$mtu"
	sysctl -q -w net.ipv6.conf.rack.disable_ipv6=1 2>/dev/null || true
	ip link set rack up

	for ((i = 0; i < n; i++)); do echo "netns add h$i"; done >"$tmp/netns"
	ip -batch "$tmp/netns"
	for ((i = 0; i < n; i++)); do
		echo "link add p$i mtu $mtu type veth peer name eth0 netns h$i mtu $mtu address $(mac "$i")"
		echo "link set p$i master rack addrgenmode none"
		echo "link set p$i up"
	done >"$tmp/ports"
	ip -batch "$tmp/ports"
	for ((i = 0; i < n; i++)); do qdiscs "p$i" "$buffer" "$delay" "bfifo limit $buffer"; done >"$tmp/qdiscs"
	tc -batch "$tmp/qdiscs"
	for ((i = 0; i < n; i++)); do echo "fdb replace $(mac "$i") dev p$i master static"; done >"$tmp/fdb"
	bridge -batch "$tmp/fdb"

	for ((j = 0; j < n; j++)); do
		echo "neigh replace $(addr4 "$j") lladdr $(mac "$j") dev eth0 nud permanent"
		case $family in
		*6*) echo "neigh replace $(addr6 "$j") lladdr $(mac "$j") dev eth0 nud permanent" ;;
		esac
	done >"$tmp/neigh"
	qdiscs eth0 "$hostbuffer" "$hostdelay" "$hostqueue" >"$tmp/host-qdiscs"
	for ((i = 0; i < n; i++)); do
		{
			echo "link set lo up"
			case $family in
			*6*) ;;
			*) echo "link set eth0 addrgenmode none" ;;
			esac
			echo "addr add $(addr4 "$i")/16 dev eth0"
			echo "link set eth0 up"
			case $family in
			*6*) echo "addr add $(addr6 "$i")/64 dev eth0 nodad" ;;
			esac
			cat "$tmp/neigh"
		} >"$tmp/host"
		ip -n "h$i" -batch "$tmp/host"
		tc -n "h$i" -batch "$tmp/host-qdiscs"
	done
}

rack_down()
{
	local ns link

	for link in $(ip -o link show type veth | awk -F'[ @:]+' '$2 ~ /^p[0-9]+$/ { print $2 }'); do
		ip link del "$link"
	done
	for ns in $(ip netns list | awk '/^h[0-9]+/ { print $1 }'); do
		ip netns del "$ns"
	done
	ip link del rack 2>/dev/null || true
}

rack_check()
{
	local n=$1 i

	for ((i = 1; i < n; i++)); do
		ip netns exec h0 ping -n -q -c 3 -i 0.01 -W 1 "$(addr4 "$i")" >/dev/null ||
			die "h$i does not answer h0"
	done
	ip netns exec h0 ping -n -q -c 3 -i 0.01 -W 1 "$(addr4 1)" |
		sed -n 's|^rtt [^=]*= \([^/]*\)/.*|rack.sh: RTT \1 ms|p'
}

rack_show()
{
	local n=$1 i

	for ((i = 0; i < n; i++)); do
		echo "== port p$i"
		tc -s qdisc show dev "p$i"
		echo "== host h$i"
		tc -n "h$i" -s qdisc show dev eth0
	done
}

cmd=${1:?usage: rack.sh up HOSTS [name=value ...] | down | check HOSTS | show HOSTS}
hosts=${2:-0}
rate=25gbit mtu=1500 buffer=1000000 hostbuffer=64000000 control=64000 delay=2us hostdelay=0 hostqueue='' family=4
for arg in "${@:3}"; do
	case $arg in
	rate=* | mtu=* | buffer=* | hostbuffer=* | control=* | delay=* | hostdelay=* | hostqueue=* | family=*) declare "$arg" ;;
	*) die "unknown parameter $arg" ;;
	esac
done
hostqueue=${hostqueue:-bfifo limit $hostbuffer}
# Room for one packet at least, less than a super-packet.
burst=9100
case $cmd in
up | check | show)
	if [ "$hosts" -lt 2 ] || [ "$hosts" -gt 1000 ]; then die "2 to 1000 hosts"; fi
	"rack_$cmd" "$hosts"
	;;
down) rack_down ;;
*) die "unknown command $cmd" ;;
esac
