#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The demo's guest half: 12 hosts in network namespaces around a switch, each matrix of
# prepare.sh over AF_SHUFFLE, the same over TCP, and a report.
#
#	host 0   host 1        host 11	namespaces sd0 ... sd11
#	  eth0     eth0          eth0	10.77.0.1 ... .12
#	   |        |             |
#	  p0       p1     ...    p11	veth; both ends of each are shaped
#	 +-+--------+-------------+-+
#	 |        bridge sw0        |	namespace sdsw
#	 +--------------------------+
#
# Runs as root in a guest, see selftests/vm/run.sh.  DEMO_IN has the programs
# and the matrices, results go to SHUFFLE_OUT.  DEMO_PROTOCOLS picks from
# "shuffle tcp", DEMO_MATRICES from "skewed equal".
set -euo pipefail

: "${SHUFFLE_OUT:?run this by demo.sh}" "${DEMO_IN:?run this by demo.sh}"
protocols=${DEMO_PROTOCOLS:-shuffle tcp}
matrices=${DEMO_MATRICES:-skewed equal}
hosts=${DEMO_HOSTS:-12}
mbps=${DEMO_MBPS:-10}
rtt_us=${DEMO_RTT_US:-10000}
buffer=${DEMO_BUFFER:-262144}	# bytes per queue
burst=${DEMO_BURST:-9100}	# bytes that may leave a port at once
work=$(mktemp -d /tmp/shuffle-demo.XXXXXX)
bin=$DEMO_IN/bin
pids=()

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

no_network()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		ip netns del "sd$h" 2>/dev/null || true
	done
	ip netns del sdsw 2>/dev/null || true
}

# shellcheck disable=SC2317 # called by the trap
cleanup()
{
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
	no_network
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# shape DEVICE [DELAY-US] - for tc -batch: the link rate, and control packets first: a host
# marks them with a priority, but only the DSCP (CS6) survives the crossing of a veth.
shape()
{
	local dev=$1 parent=root band

	if [ -n "${2-}" ]; then
		echo "qdisc add dev $dev root handle 2: netem delay ${2}us limit 10000"
		parent="parent 2:"
	fi
	echo "qdisc add dev $dev $parent handle 1: tbf rate ${mbps}mbit burst $burst limit $((2 * buffer))"
	echo "qdisc add dev $dev parent 1:1 handle 10: prio"
	for band in 1 2 3; do
		echo "qdisc add dev $dev parent 10:$band bfifo limit $buffer"
	done
	echo "filter add dev $dev parent 10: protocol ip u32 match ip dsfield 0xc0 0xfc flowid 10:1"
}

# mac HOST - its address
mac() { printf '02:00:00:4d:00:%02x' "$1"; }

# A new one for each protocol, so that all counters begin at 0.  Processes are what takes
# time in an emulated machine: a batch for each namespace.
network()
{
	local h i

	no_network
	rm -f "$work/group"
	{
		echo "netns add sdsw"
		for ((h = 0; h < hosts; h++)); do echo "netns add sd$h"; done
	} | ip -batch -
	{
		echo "link add name sw0 type bridge mcast_snooping 0 forward_delay 0"
		echo "link set dev sw0 up"
		for ((h = 0; h < hosts; h++)); do
			echo "link add name p$h type veth peer name eth0 address $(mac "$h") netns sd$h"
			echo "link set p$h master sw0 up"
		done
	} | ip -n sdsw -batch -
	# Addresses are known before the start, to both transports.
	for ((h = 0; h < hosts; h++)); do
		echo "fdb replace $(mac "$h") dev p$h master static"
	done | bridge -n sdsw -batch -
	for ((h = 0; h < hosts; h++)); do shape "p$h" $((rtt_us / 2)); done | tc -n sdsw -batch -
	for ((h = 0; h < hosts; h++)); do
		{
			echo "link set lo up"
			echo "addr add 10.77.0.$((h + 1))/24 dev eth0"
			echo "link set eth0 up"
			for ((i = 0; i < hosts; i++)); do
				[ "$i" = "$h" ] ||
					echo "neigh replace 10.77.0.$((i + 1)) lladdr $(mac "$i") dev eth0"
			done
		} | ip -n "sd$h" -batch -
		shape eth0 | tc -n "sd$h" -batch -
		# veth does not say how fast it is
		"$bin/shufflectl" -n "sd$h" config set link-rate "$mbps" rtt "${rtt_us}000"
		echo "10.77.0.$((h + 1)):7000" >>"$work/group"
	done
}

# late DIR - was a host late by so much that the result says little?
late()
{
	local ms

	ms=$(sed -n 's/.*"start_late_ns": \([0-9]*\)[0-9]\{6\},.*/\1/p' "$1"/stats.* |
		sort -n | tail -1)
	[ "${ms:-0}" -gt 50 ] || return 1
	say "the machine is busy: a host was late by $ms ms"
}

# run PROTOCOL MATRIX OUT SECONDS - the whole matrix once, with so much time to get ready
run()
{
	local matrix=$DEMO_IN/matrix/$2 out=$3 recv=$work/recv failed=0 start h watch pid cmd
	local seconds=$4 ports

	rm -rf "$out" "$recv"
	mkdir -p "$out" "$recv"
	ports=()
	for ((h = 0; h < hosts; h++)); do ports+=("p$h"); done
	start=$(($(date +%s) + seconds))
	ip netns exec sdsw "$bin/netwatch" "$start" 10 "${ports[@]}" >"$out/ports.csv" &
	watch=$!
	pids=()
	for ((h = 0; h < hosts; h++)); do
		case $1 in
		shuffle) cmd=("$bin/shuffle-cp" --op 1 --deadline 120000) ;;
		tcp) cmd=("$bin/tcp-a2a") ;;
		esac
		ip netns exec "sd$h" timeout 150 "${cmd[@]}" --group "$work/group" --rank "$h" \
			--send "$matrix" --recv "$recv/$h" --start-at "$start" \
			--timeline "$out/timeline.$h.csv" >"$out/stats.$h" 2>"$out/errors.$h" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=$((failed + 1))
	done
	pids=()
	sleep 0.1
	kill -TERM "$watch"
	wait "$watch" || true
	for ((h = 0; h < hosts; h++)); do
		ip netns exec "sd$h" cat /proc/net/shuffle/netstat >"$out/netstat.$h" 2>/dev/null || true
	done
	{
		tc -n sdsw -s qdisc show
		for ((h = 0; h < hosts; h++)); do
			tc -n "sd$h" -s qdisc show dev eth0
		done
	} >"$out/qdisc"

	# recv/RECEIVER/SENDER
	sed 's|^\([0-9a-f]*\)  \([0-9]*\)/\([0-9]*\)$|\1  \3/\2|' "$matrix/sums" >"$work/sums"
	(
		cd "$recv" || exit 1
		sha256sum -c "$work/sums" 2>/dev/null || true
	) >"$out/verified"
	if [ "$failed" -gt 0 ]; then
		say "$1: $failed of $hosts hosts failed:"
		grep . "$out"/errors.* | sed 's|.*/errors\.|  host |'
	fi
	rm -rf "$recv"
	[ "$failed" = 0 ]
}

for f in shuffle-cp tcp-a2a netwatch demo-report shufflectl; do
	[ -x "$bin/$f" ] || die "$bin/$f is missing"
done
for m in $matrices; do
	[ -s "$DEMO_IN/matrix/$m/sums" ] || die "$DEMO_IN/matrix/$m/sums is missing"
done

# patient_run PROTOCOL MATRIX - again with more time if a host was late
patient_run()
{
	local out=$SHUFFLE_OUT/$2/$1 seconds=3

	[ "$SHUFFLE_LANE" = "${SHUFFLE_LANE#qemu}" ] || seconds=6
	while :; do
		network
		run "$1" "$2" "$work/out" "$seconds" || return 1
		seconds=$((2 * seconds))
		if [ "$seconds" -gt 60 ] || ! late "$work/out"; then
			break
		fi
		say "again, with $seconds s to get ready"
	done
	mkdir -p "$out"
	cp "$work/out"/* "$out/"
}

# params MATRIX - for the report
params()
{
	local h i

	echo "hosts=$hosts"
	echo "mbps=$mbps"
	echo "buffer=$buffer"
	echo "rtt_us=$rtt_us"
	echo "lane=$SHUFFLE_LANE"
	echo "kernel=$(uname -r)"
	for ((h = 0; h < hosts; h++)); do
		for ((i = 0; i < hosts; i++)); do
			echo "len.$h.$i=$(stat -c %s "$DEMO_IN/matrix/$1/$h/$i")"
		done
	done
}

say "$hosts hosts, links of $mbps Mb/s, round trip $rtt_us us, queues of $((buffer / 1024)) KiB"
status=0 dirs=()
for m in $matrices; do
	rm -rf "${SHUFFLE_OUT:?}/$m"
	mkdir -p "$SHUFFLE_OUT/$m"
	dirs+=("$SHUFFLE_OUT/$m")
	case $m in
	skewed) say "messages as long as files are:" ;;
	equal) say "the same bytes in equal messages, the easy case:" ;;
	esac
	for p in $protocols; do
		case $p in
		shuffle) say "  over AF_SHUFFLE" ;;
		tcp) say "  over TCP" ;;
		esac
		patient_run "$p" "$m" || status=1
	done
	params "$m" >"$SHUFFLE_OUT/$m/params"
done
"$bin/demo-report" "${dirs[@]}" || status=1
exit $status
