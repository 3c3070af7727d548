#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shuffle-restore(8): apply the saved AF_SHUFFLE settings in /etc/shuffle.
#
# shellcheck disable=SC2317 # functions that apply and each call by name
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

# apply FILE COMMAND... - if there is such a file
apply()
{
	file=$1
	shift

	[ ! -e "$etc/$file" ] || "$@" || {
		echo "shuffle-restore: $etc/$file: failed" >&2
		status=1
	}
}

# each FILE COMMAND - with the words of each line that says something; the last line may have no end
each()
{
	{
		sed -e 's/#.*//' "$etc/$1"
		echo
	} | {
		rc=0
		while read -r name words; do
			[ -n "$name" ] || continue
			# shellcheck disable=SC2086 # words
			"$2" "$name" $words </dev/null || rc=1
		done
		exit "$rc"
	}
}

# install_qdisc DEVICE OPTION... - a device that is not there yet gets it when it comes, by
# shuffle-qdisc@.service
install_qdisc()
{
	[ -z "$only" ] || [ "$1" = "$only" ] || return 0
	[ -e "/sys/class/net/$1" ] || [ -n "$only" ] || return 0
	"$shufflectl" qdisc install "$@"
}

# add_relay NAME WORD... - again every second, as long as there is time to wait.  A daemon that goes
# on has its relays still: those stay as they are.
add_relay()
{
	! "$shufflectl" relay show "$1" >/dev/null 2>&1 || return 0
	while ! "$shufflectl" relay add "$@"; do
		[ "$wait" -gt 0 ] || return 1
		wait=$((wait - 1))
		sleep 1
	done
}

if [ -n "$only" ]; then
	apply qdiscs each qdiscs install_qdisc
elif [ -n "$part" ]; then
	apply relays each relays add_relay
else
	apply config "$shufflectl" config load "$etc/config"
	apply qdiscs each qdiscs install_qdisc
	apply topology "$shufflectl" topology load "$etc/topology"
	apply relays each relays add_relay
	apply overlay "$shufflectl" overlay load "$etc/overlay"
fi
exit $status
