#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What run.sh runs inside the kernel: all cases and transports on one rack.
#
# usage: MEM_MAX=BYTES guest.sh HOSTS MTU RUNS RACK FILE
#   RACK   its options, name=value joined by commas (see the table "cases")
#   FILE   lines: CASE MATRIX OPTIONS TRANSPORT...
#   MEM_MAX  what the sockets of all hosts may hold
set -euo pipefail

hosts=$1 mtu=$2 runs=$3 file=$5
here=tools/bench
bin=build/tools
declare -A rack
for word in ${4//,/ }; do rack[${word%%=*}]=${word#*=}; done
rtt_ns=$((rack[rtt] * 1000))
# calls of an MPI library before those that are measured: TCP's windows
MPI_WARM=5
# bytes that a link carries in one round trip
rtt_bytes=$((rack[rate] * rtt_ns / 8))
buffer=$((20 * rtt_bytes > 1000000 ? 20 * rtt_bytes : 1000000))

$bin/shufflectl config set mem-max "$MEM_MAX"
# As good as TCP gets: no buffer is ever the limit, connections stay warm.
[ "${rack[nic]}" = 0 ] || insmod "$BENCH_MODULES/sch_plug.ko"
$here/rack.sh up "$hosts" rate="${rack[rate]}gbit" mtu="$mtu" buffer="$buffer" \
	delay="$((rack[rtt] / 2))us" loss="${rack[loss]}" racks="${rack[racks]}" \
	core="${rack[core]}" nic="${rack[nic]}" prio="${rack[prio]}"
[ "${rack[loss]}" != 0 ] || $here/rack.sh check "$hosts"
sysctl -q -w net.ipv4.tcp_mem='2000000 3000000 4000000'
for ((h = 0; h < hosts; h++)); do
	ip netns exec "h$h" sysctl -q -w \
		net.ipv4.tcp_slow_start_after_idle=0 \
		net.ipv4.tcp_no_metrics_save=1 \
		net.ipv4.tcp_max_syn_backlog=65536 \
		net.core.somaxconn=65536
done

each_host()
{
	local h

	for ((h = 0; h < hosts; h++)); do ip netns exec "h$h" "$@"; done
}

# tcp_buffers BYTES - most that a connection may hold in each direction
tcp_buffers()
{
	[ "$1" != "$tcp_bytes" ] || return 0
	tcp_bytes=$1
	each_host sysctl -q -w "net.ipv4.tcp_wmem=4096 $((tcp_bytes / 8)) $tcp_bytes" \
		"net.ipv4.tcp_rmem=4096 $((tcp_bytes / 8)) $tcp_bytes"
}

# host_queue QDISC... - what waits in a host for its own link.  Several TCP
# connections share a link far better with fq (each in turn, paced, ACKs not
# behind data), but where all hosts send in the same order a FIFO happens to be a
# perfect rotation: both are measured.
host_queue()
{
	local h

	[ "${rack[nic]}" = 0 ] || return 0	# it can be stopped, no other can
	for ((h = 0; h < hosts; h++)); do
		tc -n "h$h" qdisc del dev eth0 parent 3:2 handle 11:
		tc -n "h$h" qdisc add dev eth0 parent 3:2 handle 11: "$@"
	done
}

port_queue()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		tc qdisc del dev "p$h" parent 3:2 handle 11:
		tc qdisc add dev "p$h" parent 3:2 handle 11: "$@"
	done
}

offload()
{
	local h

	each_host ethtool -K eth0 tso "$1" gso "$1" gro "$1"
	for ((h = 0; h < hosts; h++)); do ethtool -K "p$h" tso "$1" gso "$1" gro "$1"; done
}

# world fq|fifo|dctcp|nogso - what the hosts and ports are like
world()
{
	[ "$1" != "$world" ] || return 0
	case $world in
	dctcp)
		port_queue bfifo limit "$buffer"
		each_host sysctl -q -w net.ipv4.tcp_congestion_control=cubic net.ipv4.tcp_ecn=2
		;;
	nogso) offload on ;;
	esac
	world=$1
	case $world in
	fq) host_queue fq limit 100000 flow_limit 50000 buckets 4096 ;;
	fifo) host_queue bfifo limit 64000000 ;;
	dctcp)
		host_queue fq limit 100000 flow_limit 50000 buckets 4096
		if [ ! -e /sys/module/tcp_dctcp ]; then
			insmod "$BENCH_MODULES/tcp_dctcp.ko"
			sysctl -q -w net.ipv4.tcp_allowed_congestion_control='reno cubic dctcp'
		fi
		each_host sysctl -q -w net.ipv4.tcp_congestion_control=dctcp net.ipv4.tcp_ecn=1
		# One queue that marks what has waited for five round trips, and
		# never drops before it is full.
		port_queue fq_codel flows 1 limit 100000 memory_limit $((4 * buffer)) \
			ce_threshold $((5 * rack[rtt]))us target 1s interval 10s
		;;
	nogso)
		host_queue fq limit 100000 flow_limit 50000 buckets 4096
		offload off
		;;
	esac
}

# settings LINK_MBPS RTT_NS OVERCOMMIT ORDER - of all hosts; 0: the module finds out the rate or
# the round trip
settings()
{
	[ "$*" != "$set" ] || return 0
	set=$*
	$here/config_all.sh "$hosts" link-rate "$1" rtt "$2" overcommit "$3" op-order "$4"
}

# windows pro-rata|constant|scale-back-EXPONENT - how a receiver shares its limit among the senders
windows()
{
	[ "$1" != "$window" ] || return 0
	window=$1
	case $window in
	scale-back-*)
		$here/config_all.sh "$hosts" window-mode scale-back \
			scale-back-exponent "${window##*-}"
		;;
	*) $here/config_all.sh "$hosts" window-mode "$window" ;;
	esac
}

# unscheduled BYTES - what a member sends unasked
unscheduled()
{
	[ "$1" != "$unsched" ] || return 0
	unsched=$1
	$here/config_all.sh "$hosts" unscheduled "$unsched"
}

# What has been learnt of links is lost with the module, and so is what was set.
forget()
{
	rmmod shuffle && insmod "$SHUFFLE_KO"
	$bin/shufflectl config set mem-max "$MEM_MAX"
	set='' window=pro-rata unsched=0
}

# matrix_of NAME RUN - its file.  Every run has its own skewed matrix, the same for
# all transports.
matrix_of()
{
	local path=/tmp/$1.$2

	[ -s "$path" ] || $bin/shuffle-workload generate "$1" -n "$hosts" -S "$2" -o "$path"
	echo "$path"
}

# bench PROGRAM CASE RUN TRANSPORT MATRIX [ARGS...] - one result
bench()
{
	local prog=$1 c=$2 run=$3 way=$4

	timeout 3000 "$bin/$prog" "${@:6}" -t "$way" -c "$c" -r "$run" -R "${rack[rate]}e9" \
		-T "$rtt_ns" -k "${rack[racks]}:${rack[core]}" "$5" || {
		echo "BENCH case=$c hosts=$hosts transport=$way run=$run ok=0"
		return 1
	}
}

# mpi_job WAY - all collectives of the boot by an MPI library, in one job; a line for each round
mpi_job()
{
	local -a colls command

	sed -n 's/.*,coll=\([a-z]*:[0-9]*\).*/\1/p' "$file" >/tmp/colls
	mapfile -t colls </tmp/colls
	if [ -z "${list-}" ]; then
		# shellcheck source=tools/bench/mpi/mpi_rack.sh
		. $here/mpi/mpi_rack.sh
		setup_mpi
		unset OMPI_MCA_mca_base_component_path	# no component of ours
	fi
	tcp_buffers 33554432
	case $1 in
	mpich*)
		command=(mpiexec.mpich -launcher rsh -launcher-exec "$OMPI_MCA_plm_rsh_agent"
			-iface eth0 -hosts "$list" -n "$hosts"
			-genv LD_PRELOAD "$PWD/$bin/mpi_blocking.so"
			-genv MPI_IDLE wait "$PWD/$bin/mpi_coll_mpich")
		;;
	*)
		command=(mpirun -np "$hosts" -H "$list" -x "LD_PRELOAD=$PWD/$bin/mpi_blocking.so"
			-x MPI_IDLE=wait --mca btl 'tcp,self' --mca coll ^shuffle "$PWD/$bin/mpi_coll")
		;;
	esac
	on_h0 3000 "${command[@]}" "$MPI_WARM" "$runs" "${colls[@]}" 2>/tmp/stderr | tee "/tmp/mpi.$1" || {
		echo "$1: $(tail -3 /tmp/stderr)"
		return 1
	}
}

# mpi_bench CASE COLL RUN WAY MATRIX - one result of an MPI library
mpi_bench()
{
	local ns

	[ -e "/tmp/mpi.$4" ] || mpi_job "$4" || status=1
	ns=$(sed -n "s/^${2%%:[a-z]*} //p" "/tmp/mpi.$4" | sed -n "$3p")
	if [ -z "$ns" ]; then
		echo "BENCH case=$1 hosts=$hosts transport=$4 run=$3 ok=0"
		return 1
	fi
	bench coll_bench "$1" "$3" "$4" "$5" -C "$2" -N "$ns"
}

# shellcheck source=tools/bench/coflow.sh
. $here/coflow.sh

# measure CASE MATRIX OPTIONS RUN TRANSPORT
measure()
{
	local c=$1 matrix small run=$4 way=$5 prog bytes at
	local -a args=() told
	local -A opt

	for word in ${3//,/ }; do opt[${word%%=*}]=${word#*=}; done
	matrix=$(matrix_of "$2" "$run")
	bytes=$(awk -F, '!/^#/ { for (i = 1; i <= NF; i++) n += $i } END { printf "%.0f", n }' "$matrix")
	case ${opt[coll]:+coll/}$2/$way in
	incast*/tcp-rotation)
		return 0	# the same as all at once
		;;
	coll/*/ompi-tcp | coll/*/ompi-tcp-* | coll/*/mpich | coll/*/mpich-*)
		mpi_bench "$c" "${opt[coll]}" "$run" "$way" "$matrix" || status=1
		return 0
		;;
	coll/*/shuffle | coll/*/shuffle-user | coll/*/shuffle-multicast)
		prog=coll_bench
		args=(-C "${opt[coll]}" -E "$([ "$way" = shuffle ] && echo auto || echo user)")
		[ "$way" != shuffle-multicast ] || args+=(-m)
		settings $((rack[rate] * 1000)) "$rtt_ns" "${opt[overcommit]}" "${opt[order]}"
		;;
	*/shuffle | */shuffle-auto | */shuffle-poll | */shuffle-want | */shuffle-thread | \
	*/shuffle-smallest)
		prog=shuffle_bench
		args=(-v)
		case $way in
		shuffle-poll | shuffle-want | shuffle-thread) args+=(-A "${way#*-}") ;;
		esac
		# What the hosts hold together must fit into memory.
		[ "$bytes" -lt 4000000000 ] || args+=(-b $((4000000000 / hosts / 2)))
		[ "$way" != shuffle-smallest ] || opt[order]=smallest
		told=("$((rack[rate] * 1000))" "$rtt_ns")
		[ "$way" != shuffle-auto ] || told=(0 0)
		[ "${opt[cold]}" = 0 ] || forget
		settings "${told[@]}" "${opt[overcommit]}" "${opt[order]}"
		unscheduled "${opt[unsched]}"
		windows "${opt[window]}"
		;;
	*/tcp-*)
		prog=tcp_bench
		args=(-m "$(sed 's/^tcp-//;s/-.*//' <<<"$way")")
		if [ "$bytes" -lt 4000000000 ]; then
			tcp_buffers 33554432
		else
			tcp_buffers $((2000000000 / hosts / hosts))
		fi
		;;
	*)
		echo "unknown transport $way"
		exit 2
		;;
	esac
	[ "${opt[stop]}" = 0 ] || args+=(-P "$((opt[stop] * rtt_ns)):$((mtu + 100))")
	[ "${opt[flows]}" = 0 ] || args+=(-F)
	[ "${opt[late]}" = 0 ] || args+=(-j $((opt[late] * 1000)))
	[ "${opt[cold]}" = 0 ] || args+=(-w 0)
	if [ -n "${opt[load]}" ]; then
		# nothing is learnt of links that are told; windows of TCP are
		[ "$prog" != shuffle_bench ] || args+=(-w 0)
		coflow "$prog" "$c" "$run" "$way" "${opt[load]}" "${args[@]}"
		return 0
	fi
	if [ -z "${opt[beside]}" ]; then
		bench "$prog" "$c" "$run" "$way" "$matrix" "${args[@]}" || status=1
		return 0
	fi
	# The small one alone; then both, started so that they meet.
	small=$(matrix_of "${opt[beside]}" "$run")
	bench "$prog" "$c+alone" "$run" "$way" "$small" "${args[@]}" || status=1
	at=$(awk '{ printf "%.0f", ($1 + 30) * 1e9 }' /proc/uptime)
	bench "$prog" "$c+small" "$run" "$way" "$small" "${args[@]}" -p 6018 -s 0 \
		-a $((at + bytes * 4 / hosts / rack[rate])) &
	bench "$prog" "$c" "$run" "$way" "$matrix" "${args[@]}" -x "$small" -a "$at" || status=1
	wait $! || status=1
}

status=0 world=fq tcp_bytes=0 set='' window=pro-rata unsched=0
host_queue fq limit 100000 flow_limit 50000 buckets 4096
for ((run = 1; run <= runs; run++)); do
	for w in fq fifo dctcp nogso; do
		while read -r c matrix opts ways; do
			for way in $ways; do
				case $w/$way in
				"$w/"*-"$w") ;;
				fq/*-fifo | fq/*-dctcp | fq/*-nogso) continue ;;
				fq/*) ;;
				*) continue ;;
				esac
				world "$w"
				measure "$c" "$matrix" "$opts" "$run" "$way" </dev/null
			done
		done <"$file"
	done
done
exit $status
