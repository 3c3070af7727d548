#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in a virtual machine: uses the packages that are installed in the Debian
# at FOLDER, with its own programs and modules.  STEP=purge: purges them, too, in a
# copy of that system in memory.
#
# STEP=stays: boots that system's systemd, in namespaces, and looks what is there then.
#
# usage: guest.sh FOLDER
set -u

root=/mnt/system
kernel=$(uname -r)

fail()
{
	echo "guest: $*"
	exit 1
}

inside()
{
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		chroot "$root" "$@"
}

mkdir -p /mnt/layer "$root"
mount -t tmpfs tmpfs /mnt/layer
mkdir /mnt/layer/{upper,work}
modprobe -q overlay
mount -t overlay -o "lowerdir=$1,upperdir=/mnt/layer/upper,workdir=/mnt/layer/work" overlay "$root" ||
	fail "no overlay"
for fs in proc sysfs devtmpfs; do
	case $fs in
	proc) dir=$root/proc ;;
	sysfs) dir=$root/sys ;;
	*) dir=$root/dev ;;
	esac
	mount -t $fs $fs "$dir" || fail "no $fs"
done
# dkms reads from it
ln -sfn /proc/self/fd "$root/dev/fd"
# The kernel looks for modules in its own root.
mount --bind "$root/lib/modules" /lib/modules || fail "no modules"

! grep -q '^shuffle ' /proc/modules || fail "the module is loaded already"

# booted COMMAND... - in the namespaces of that systemd
booted()
{
	nsenter -t "$systemd" -p -m -r env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# settled UNIT - it has run, and not failed.
settled()
{
	local i

	for ((i = 0; i < 600; i++)); do
		case $(booted systemctl show -P ActiveState "$1" 2>/dev/null) in
		active) return 0 ;;
		failed) break ;;
		esac
		sleep 0.1
	done
	booted systemctl status --no-pager "$1"
	return 1
}

# within SECONDS COMMAND... - it succeeds in that time
within()
{
	local i

	for ((i = 0; i < 5 * $1; i++)); do
		! "${@:2}" || return 0
		sleep 0.2
	done
	return 1
}

has_qdisc()
{
	booted shufflectl -j qdisc show "$1" 2>/dev/null | grep '"installed":true'
}

has_relays()
{
	booted shufflectl relay 2>/dev/null | grep agg
}

stays()
{
	local i units

	mapfile -t units < <(inside dpkg -L shuffle-tools | grep '\.service$' | grep -v @)
	inside systemd-analyze verify --man=no "${units[@]}" || fail "units"
	mkdir -p "$root/etc/shuffle"
	printf '%s\n' 'config set overcommit 7' >"$root/etc/shuffle/config"
	echo 'shf0 --rate 1gbit' >"$root/etc/shuffle/qdiscs"
	printf '%s\n' '192.0.2.1,a' '192.0.2.2,b' >"$root/etc/shuffle/topology"
	echo 'agg rank 1 to 0 from 2 members 127.0.0.1:7000 127.0.0.1:7001 127.0.0.1:7002' >"$root/etc/shuffle/relays"
	ip link add shf0 type dummy || fail "no device"
	umount "$root/proc"
	# shellcheck disable=SC2016 # for the inner shell
	unshare --pid --mount --fork sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" env container=other /lib/systemd/systemd' \
		sh "$root" >/tmp/systemd 2>&1 &
	for ((i = 0; i < 100; i++)); do
		systemd=$(pgrep -x systemd) && break
		sleep 0.1
	done
	settled shuffle.service || fail "shuffle.service: $(tail -5 /tmp/systemd)"
	booted systemctl start shuffle-sabad shuffle-rperf || fail "units without their files"
	! booted systemctl is-active shuffle-sabad || fail "shuffle-sabad without its file"
	booted systemctl is-active shuffle-relayd || fail "no relayd"
	booted shufflectl config | grep 'overcommit 7' || fail "no settings"
	booted shufflectl topology | grep 192.0.2.2 || fail "no racks"
	has_relays || fail "no relay"
	has_qdisc shf0 || fail "no qdisc"
	booted systemctl start systemd-udevd || fail "no udevd: $(booted systemctl status --no-pager systemd-udevd)"
	echo shf1 >>"$root/etc/shuffle/qdiscs"
	for i in 1 2; do
		ip link add "shf$i" type dummy || fail "no device shf$i"
	done
	within 60 has_qdisc shf1 || fail "no qdisc of a device that has come: $(booted systemctl status --no-pager 'shuffle-qdisc@*')"
	! has_qdisc shf2 || fail "a qdisc of a device that nobody has named"
	booted systemctl kill -s KILL shuffle-relayd || fail "cannot kill it"
	within 20 has_relays || fail "a relayd that died does not come back with its relays"
	mkdir -p "$root/var/lib/shuffle"
	printf '%s\n' 'app A' 'sample 100 1' 'sample 50 2' 'sample 25 4' >"$root/var/lib/shuffle/saba.table"
	echo 'port shf2 rate 1gbit' >"$root/etc/shuffle/saba.conf"
	booted systemctl start shuffle-sabad || fail "shuffle-sabad does not start"
	within 20 booted shuffle-saba show || fail "shuffle-sabad: $(booted systemctl status --no-pager shuffle-sabad)"
	booted systemctl is-active shuffle-sabad || fail "shuffle-sabad has ended"
	echo "guest: it stays"
}

# shuffle IP OP - three members exchange files.
shuffle()
{
	local group="$1:7000,$1:7001,$1:7002" i j pids=()

	# shellcheck disable=SC2016 # for the inner shell
	inside sh -c 'cd /root && mkdir -p out/0 out/1 out/2 && for i in 0 1 2; do for j in 0 1 2; do
		head -c $((20000 * (i + 1) + j)) /bin/bash >out/$i/$j; echo "$i $j" >>out/$i/$j; done; done'
	for i in 0 1 2; do
		inside sh -c "cd /root && exec shuffle-cp -g '$group' -r $i -o $2 -s out -d in-$2-$i -t 60000" &
		pids+=($!)
	done
	for i in 0 1 2; do
		wait "${pids[$i]}" || fail "shuffle-cp $i over $1"
	done
	for i in 0 1 2; do
		for j in 0 1 2; do
			cmp "$root/root/out/$j/$i" "$root/root/in-$2-$i/$j" || fail "$j to $i over $1"
		done
	done
}

if [ "${STEP-}" = stays ]; then
	stays
	exit 0
fi

# The first socket loads the module.
shuffle 127.0.0.1 1
grep -q '^shuffle ' /proc/modules || fail "the module was not loaded by itself"
[ "$(cat /sys/module/shuffle/version)" = "$VERSION" ] || fail "another version of the module is loaded"
shuffle '[::1]' 2
for i in 0 1; do
	inside /root/hello $i 127.0.0.1:7100 127.0.0.1:7101 >"/tmp/hello$i" &
	[ $i = 1 ] || first=$!
done
wait $! || fail "hello 1"
wait "$first" || fail "hello 0"
grep -q 'from 1: hello 0, this is 1' /tmp/hello0 || fail "hello: $(cat /tmp/hello0)"
# A module with the netlink family can be seen with the tool.
if inside modinfo -F alias shuffle | grep -q 'family-shuffle$'; then
	inside shufflectl config show || fail "shufflectl config show"
	inside shufflectl -j stats show || fail "shufflectl -j stats show"
fi

unload()
{
	for _ in $(seq 50); do
		inside "$@" 2>/tmp/unload && return 0
		sleep 0.1
	done
	cat /tmp/unload
	return 1
}

if [ "${STEP-}" != purge ]; then
	unload modprobe -r shuffle || fail "cannot be unloaded"
	inside modprobe shuffle family=19 || fail "modprobe with a parameter"
	[ "$(cat /proc/net/shuffle/family)" = 19 ] || fail "the parameter does not count"
	inside shufflectl config set overcommit 7 early-bytes 1m || fail "settings"
	inside shufflectl config save /etc/shuffle.conf || fail "settings cannot be saved"
	unload modprobe -r shuffle || fail "cannot be unloaded again"
	inside modprobe shuffle || fail "modprobe without a parameter"
	inside shufflectl config load /etc/shuffle.conf || fail "settings cannot be loaded"
	case $(inside shufflectl config show) in
	*'overcommit 7'*) ;;
	*) fail "the settings that were saved do not count" ;;
	esac
	unload modprobe -r shuffle || fail "cannot be unloaded after that"
	echo "guest: used on $kernel"
	exit 0
fi

# A member waits for another that never comes, so the module is in use: for as long
# as the purge may take here, and with the default idle timeout its operation ends after a minute.
inside shufflectl config set idle-timeout 0 || fail "idle-timeout"
# shellcheck disable=SC2016 # for the inner shell
inside sh -c 'cd /root && echo $$ >pid && exec shuffle-cp -g 127.0.0.1:7200,127.0.0.1:7201,127.0.0.1:7202 \
	-r 0 -o 9 -s out -d in-9 -t 360000000' >/dev/null 2>&1 &
for _ in $(seq 100); do
	[ "$(awk '$1 == "shuffle" { print $3 }' /proc/modules)" = 0 ] || break
	sleep 0.1
done
# depmod would take minutes, emulated, for drivers that this machine does not have.
rm -rf "$root"/lib/modules/*/kernel/{arch,crypto,drivers,fs,sound}
inside apt-get -q -y purge shuffle-dkms shuffle-tools libshuffle-dev libshuffle0 || fail "purge"
grep -q '^shuffle ' /proc/modules || fail "a module in use has gone"
kill "$(cat "$root/root/pid")" || fail "the program that holds the module has gone"
wait
unload rmmod shuffle || fail "cannot be unloaded after the purge"
! inside modprobe -q shuffle || fail "modprobe finds a module after the purge"
! inside find /lib/modules /usr/src /var/lib/dkms -name '*shuffle*' | grep . || fail "files are left"
! grep -q shuffle "$root/lib/modules/$kernel/modules.dep" "$root/lib/modules/$kernel/modules.alias" ||
	fail "depmod has not forgotten the module"
! inside sh -c 'ls /usr/bin/*shuffle* /usr/sbin/*shuffle*' 2>/dev/null | grep . || fail "programs are left"
echo "guest: used and purged on $kernel"
