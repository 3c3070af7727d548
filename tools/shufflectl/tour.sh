#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A tour of shufflectl: four hosts on slow links, a shuffle between them, and the
# commands of an operator.  Runs in a guest, so that nothing of this machine is
# touched:
#
#   make tools && selftests/vm/run.sh uml tools/shufflectl/tour.sh
set -euo pipefail

PATH=$PWD/build/tools:$PATH
n=4

# show COMMAND... - as if it was typed
show()
{
	printf '\n\033[1m# %s\033[0m\n' "$*"
	"$@" || printf '(exit status %d)\n' $?
}

ip link add rack type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip link set rack up
for ((h = 0; h < n; h++)); do
	ip netns add "h$h"
	ip link add "p$h" type veth peer name eth0 netns "h$h"
	ip link set "p$h" master rack up
	ip -n "h$h" link set lo up
	ip -n "h$h" link set eth0 up
	ip -n "h$h" addr add "10.77.0.$((h + 1))/16" dev eth0
done

echo 'Four hosts, h0 to h3.  Their links are veth, on which nothing ever waits:'
show shufflectl -n h0 qdisc
echo
echo 'Hold all of them to 10 Mbit/s, control packets first:'
for ((h = 0; h < n; h++)); do
	show shufflectl -n "h$h" qdisc install eth0 --rate 10mbit
	show shufflectl qdisc install "p$h" --rate 10mbit
done
show shufflectl -n h0 qdisc

echo
echo 'Tell a host what its link is like, and look at what it takes for granted:'
show shufflectl -n h0 config set link-rate 10mbit overcommit 4
show shufflectl -n h0 config
show shufflectl -n h0 config set overcommit 0

echo
echo 'Everybody sends 700 kB to everybody; listen while that goes on:'
shufflectl -n h0 monitor >/tmp/events &
monitor=$!
shuffle_peer prefix= n=$n matrix=others:700000 op=7 >/tmp/peers &
peers=$!
sleep 1
show shufflectl -n h0 op
show shufflectl -n h0 op watch -i 0.3 -c 3 | cat
show shufflectl -n h0 op messages 7 from 2
show shufflectl -n h0 peer
show shufflectl -n h0 socket
show shufflectl -n h0 stats -i 0.5 -c 1
wait $peers
show shufflectl -n h0 -s qdisc show eth0
show shufflectl -n h0 -s stats '*bytes*'

echo
echo 'What the monitor has seen:'
sleep 0.2
kill $monitor
show cat /tmp/events

echo
echo 'Keep the settings, or put everything back:'
show shufflectl -n h0 config save
show shufflectl -n h0 qdisc remove eth0
show shufflectl -n h0 qdisc
