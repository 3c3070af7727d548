# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of those who source it
#
# What rack.sh and bcube.sh are made of: addresses, ports, queues; to be sourced.  Variables: rate,
# burst, control, buffer, mtu, family and prio, as rack.sh has them.

addr4() { printf '10.18.%d.%d' $((($1 + 1) / 256)) $((($1 + 1) % 256)); }
addr6() { printf 'fd18::%x' $(($1 + 1)); }
mac() { printf '02:18:00:00:%02x:%02x' $((($1 + 1) / 256)) $((($1 + 1) % 256)); }

# qdiscs DEV RATE BUFFER DELAY BAND0 BAND1 - commands for tc -batch; DELAY is that
# of netem, 0 for none, BAND0 and BAND1 are the bands' qdiscs
qdiscs()
{
	local dev=$1 rate=$2 buf=$3 parent=root map='1 1 1 1 1 1 0 0 1 1 1 1 1 1 1 1'

	[ "$rate" != none ] || return 0
	if [ "$4" != 0 ]; then
		echo "qdisc add dev $dev root handle 1: netem delay $4 limit 1000000"
		parent='parent 1:1'
	fi
	[ "$prio" = 1 ] || map='1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1'
	cat <<-END
	qdisc add dev $dev $parent handle 2: tbf rate $rate burst $burst limit $buf
	qdisc add dev $dev parent 2:1 handle 3: prio bands 2 priomap $map
	qdisc add dev $dev parent 3:1 handle 10: $5
	qdisc add dev $dev parent 3:2 handle 11: $6
	END
	[ "$prio" = 1 ] || return 0
	cat <<-END
	filter add dev $dev parent 3: protocol ip prio 1 u32 match ip tos 0xc0 0xc0 flowid 3:1
	END
	case $family in
	*6*) echo "filter add dev $dev parent 3: protocol ipv6 prio 2 u32 match ip6 priority 0xc0 0xc0 flowid 3:1" ;;
	esac
}

# Bridges that know where everybody is: no flooding, no learning of 160 addresses.
bridge_add()
{
	ip link add "$1" type bridge stp_state 0 mcast_snooping 0 forward_delay 0
	ip link set "$1" mtu "$mtu"
	sysctl -q -w "net.ipv6.conf.$1.disable_ipv6=1" 2>/dev/null || true
	ip link set "$1" up
}

# port_add DEV PEER BRIDGE - for ip -batch
port_add()
{
	echo "link add $1 mtu $mtu type veth peer name $2 mtu $mtu"
	echo "link set $1 master $3 addrgenmode none"
	echo "link set $1 up"
}
