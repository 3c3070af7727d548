#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# As good as TCP gets on the hosts of a rack: no buffer is ever the limit, connections stay warm.
#
# usage: tcp_ready.sh HOSTS
set -e

sysctl -q -w net.ipv4.tcp_mem='2000000 3000000 4000000'
for ((h = 0; h < $1; h++)); do
	ip netns exec "h$h" sysctl -q -w \
		net.ipv4.tcp_wmem='4096 4194304 33554432' \
		net.ipv4.tcp_rmem='4096 4194304 33554432' \
		net.ipv4.tcp_slow_start_after_idle=0 \
		net.ipv4.tcp_no_metrics_save=1 \
		net.ipv4.tcp_max_syn_backlog=65536 \
		net.core.somaxconn=65536
done
