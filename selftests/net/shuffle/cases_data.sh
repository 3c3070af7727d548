#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: what is sent, from how many, how it is read, over which network.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work, slow, peer_pid: lib.sh and other cases

# matrix_case HOSTS V6 MATRIX [ARGS...]
matrix_case()
{
	rack "$1"
	peer n="$1" v6="$2" matrix="$3" "${@:4}" || fail "shuffle failed"
	# More than one round trip was not needed on a clean network.
	[ "$(counters OpsFailed)" = 0 ] || fail "OpsFailed: $(counters OpsFailed)"
}

data_cases()
{
	local v n mega skew

	for v in 4 6; do
		for n in 2 8 32; do
			run_case "v$v-$n-empty" matrix_case $n $((v == 6)) empty
			run_case "v$v-$n-1-byte" matrix_case $n $((v == 6)) uniform:1
			run_case "v$v-$n-1-packet" matrix_case $n $((v == 6)) uniform:1000
		done
		mega=1048576
		run_case "v$v-2-1M" matrix_case 2 $((v == 6)) uniform:$mega
		run_case "v$v-8-1M" matrix_case 8 $((v == 6)) "uniform:$(sz $mega 65536)"
		run_case "v$v-32-32k" matrix_case 32 $((v == 6)) "uniform:$(sz 32768 8192)"
		skew=$(sz 65536 16384)
		run_case "v$v-8-skew" matrix_case 8 $((v == 6)) "skew:$skew"
		run_case "v$v-32-skew" matrix_case 32 $((v == 6)) "skew:$(sz 8192 2048)"
		run_case "v$v-8-onerow" matrix_case 8 $((v == 6)) "onerow:$(sz 262144 32768):0"
		run_case "v$v-8-mapreduce" matrix_case 8 $((v == 6)) "mapreduce:$(sz 131072 32768):4"
		run_case "v$v-8-incast" matrix_case 8 $((v == 6)) "incast:$(sz 262144 32768):3"
	done
	run_case "v4-32-mapreduce" matrix_case 32 0 "mapreduce:$(sz 16384 4096):8"
	run_case "v4-8-others" matrix_case 8 0 "others:$(sz 100000 10000)"

	run_case "two-operations" matrix_case 4 0 "skew:$(sz 65536 16384)" ops=2
	run_case "eight-operations" matrix_case 4 0 "skew:$(sz 16384 4096)" ops=8
	run_case "twenty-rounds" matrix_case 4 0 "skew:$(sz 8192 2048)" rounds=20
	run_case "row-in-parts" matrix_case 8 0 "skew:$(sz 32768 8192)" split=3
	run_case "small-writes" matrix_case 4 0 "skew:$(sz 16384 4096)" chunk=1111
	run_case "small-reads" matrix_case 4 0 "skew:$(sz 16384 4096)" recv_buf=999
	run_case "epoll" matrix_case 4 0 "skew:$(sz 65536 16384)" mode=1 ops=2
	run_case "epoll-edge" matrix_case 4 0 "skew:$(sz 65536 16384)" mode=2 ops=2
	run_case "blocking" matrix_case 4 0 "skew:$(sz 65536 16384)" mode=3 ops=2
	run_case "small-buffers" matrix_case 4 0 "skew:$(sz 65536 16384)" \
		rcvbuf=65536 sndbuf=32768 ops=2
	run_case "tiny-buffers" matrix_case 4 0 "skew:$(sz 32768 8192)" rcvbuf=4096 sndbuf=4096
	run_case "members-share-hosts" shared_hosts
	run_case "one-host-loopback" loopback
	run_case "3x-rcvbuf" three_buffers
	run_case "sender-address" udp_dscp
}

shared_hosts()
{
	rack 3
	peer n=9 hosts=3 matrix="skew:$(sz 32768 8192)" ops=2 || fail "shuffle failed"
	peer n=9 hosts=3 v6=1 op=10 matrix="skew:$(sz 32768 8192)" || fail "shuffle failed"
}

loopback()
{
	rack 1
	nsx h0 "$BIN/shuffle_peer" n=8 net=2 matrix="skew:$(sz 32768 8192)" ops=2 \
		timeout=$(($(tmo 30) * 1000)) || fail "shuffle failed"
	nsx h0 "$BIN/shuffle_peer" n=8 net=2 v6=1 op=5 matrix="skew:$(sz 32768 8192)" \
		timeout=$(($(tmo 30) * 1000)) || fail "shuffle failed"
}

# SO_RCVBUF counts double, so a message of 3 x the value the kernel has.
three_buffers()
{
	rack 2
	peer n=2 matrix=others:786432 rcvbuf=131072 check_mem=1 recv_buf=50000 ||
		fail "shuffle failed"
	peer n=2 op=2 matrix=others:786432 rcvbuf=131072 check_mem=1 recv_buf=8000000 \
		mode=3 || fail "blocking shuffle failed"
	peer n=2 op=3 v6=1 matrix=others:1200000 rcvbuf=100000 sndbuf=20000 check_mem=1 ||
		fail "IPv6 shuffle failed"
}

# Control packets carry DSCP CS6, data does not: u32 filters count them on the
# bridge port of host 1.
udp_dscp()
{
	local ctrl

	rack 2
	tc -n shf-br qdisc add dev p1 clsact 2>/dev/null || skip "no clsact"
	tc -n shf-br filter add dev p1 ingress prio 1 protocol ip u32 \
		match ip tos 0xc0 0xfc match ip protocol 17 0xff action pass || skip "no u32"
	peer n=2 matrix=one:500000:0:1 || fail "shuffle failed"
	ctrl=$(tc -n shf-br -s filter show dev p1 ingress |
		awk '/Sent/ { sum += $4 } END { print sum + 0 }')
	diag "control packets from the receiver: $ctrl, CtrlPktsOut: $(counter 1 CtrlPktsOut)"
	[ "$ctrl" -ge 2 ] || fail "no packets with DSCP CS6"
	[ "$ctrl" -le $(($(counter 1 CtrlPktsOut) + 2)) ] || fail "data has DSCP CS6"
}
