#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shuffle-restore(8): apply the saved AF_SHUFFLE settings in /etc/shuffle.
set -u

shufflectl=shufflectl

usage()
{
	cat <<-END
		usage: shuffle-restore [--etc FOLDER] [--relays [--wait SECONDS]] [DEVICE]

		Gives the network namespace what FOLDER (/etc/shuffle) says; what there is no
		file for stays.  With DEVICE only the queueing discipline of that device, with
		--relays only the relays; --wait: their addresses may come so much later.

		  config    settings, as 'shufflectl config save' writes them
		  qdiscs    devices whose control packets go first, one a line: DEVICE [OPTION]...
		            of 'shufflectl qdisc install'
		  topology  racks, for 'shufflectl topology load'
		  relays    one a line: what follows 'shufflectl relay add'; shuffle-relayd runs
		  overlay   for 'shufflectl overlay load'

		Exit status: 0 done; 1 something failed, the rest is done; 2 bad command line.
	END
}

etc=/etc/shuffle only='' part='' wait=0
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h)
		usage
		exit 0
		;;
	--etc | --wait)
		[ $# -ge 2 ] || { usage >&2; exit 2; }
		[ "$1" = --etc ] && etc=$2 || wait=$2
		shift
		;;
	--relays) part=relays ;;
	-*)
		usage >&2
		exit 2
		;;
	*)
		[ -z "$only" ] || { usage >&2; exit 2; }
		only=$1
		;;
	esac
	shift
done
case $wait in
'' | *[!0-9]*)
	usage >&2
	exit 2
	;;
esac
status=0

failed()
{
	echo "shuffle-restore: $etc/$1: failed" >&2
	status=1
}

# lines FILE - those that say something, each with an end
lines()
{
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$etc/$1"
	echo
}

# Devices that are not there yet get theirs when they come: shuffle-qdisc@.service.
qdiscs()
{
	lines qdiscs | {
		rc=0
		while read -r dev options; do
			[ -n "$dev" ] || continue
			[ -z "$only" ] || [ "$dev" = "$only" ] || continue
			[ -e "/sys/class/net/$dev" ] || [ -n "$only" ] || continue
			# shellcheck disable=SC2086 # words
			"$shufflectl" qdisc install "$dev" $options </dev/null || rc=1
		done
		exit $rc
	}
}

# add_relay NAME WORD... - again every second, as long as there is time to wait
add_relay()
{
	while ! "$shufflectl" relay add "$@" </dev/null; do
		[ "$wait" -gt 0 ] || return 1
		wait=$((wait - 1))
		sleep 1
	done
}

# A daemon that goes on has its relays still: those stay as they are.
relays()
{
	lines relays | {
		rc=0
		while read -r name words; do
			[ -n "$name" ] || continue
			! "$shufflectl" relay show "$name" </dev/null >/dev/null 2>&1 || continue
			# shellcheck disable=SC2086 # words
			add_relay "$name" $words || rc=1
		done
		exit $rc
	}
}

if [ -n "$only" ]; then
	[ ! -e "$etc/qdiscs" ] || qdiscs || failed qdiscs
	exit $status
fi
if [ -z "$part" ]; then
	[ ! -e "$etc/config" ] || "$shufflectl" config load "$etc/config" || failed config
	[ ! -e "$etc/qdiscs" ] || qdiscs || failed qdiscs
	[ ! -e "$etc/topology" ] || "$shufflectl" topology load "$etc/topology" || failed topology
fi
[ ! -e "$etc/relays" ] || relays || failed relays
if [ -z "$part" ]; then
	[ ! -e "$etc/overlay" ] || "$shufflectl" overlay load "$etc/overlay" || failed overlay
fi
exit $status
