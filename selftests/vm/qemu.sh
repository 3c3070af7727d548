#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The QEMU half of run.sh: kernel images, the small initramfs that mounts the
# host's root, and the command line.  Sourced, never run.
# shellcheck disable=SC2034 # variables for run.sh

# shellcheck source=debian.sh
. "$SHUFFLE_ROOT/selftests/vm/debian.sh"
# shellcheck source=arch.sh
. "$SHUFFLE_ROOT/selftests/vm/arch.sh"

# First program of a QEMU guest: loads what the root file system needs.
qemu_init_script()
{
	cat <<'END'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs devtmpfs /dev
while read -r m; do
	/bin/busybox insmod "/modules/$m" || echo "initramfs: cannot load $m" >/dev/kmsg
done </modules/order
/bin/busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=524288,cache=loose root /newroot ||
	{ echo "initramfs: cannot mount the root" >/dev/kmsg; /bin/busybox poweroff -f; }
init=$(/bin/busybox sed 's/.*shuffle_init=\([^ ]*\).*/\1/' /proc/cmdline)
/bin/busybox umount /proc
/bin/busybox mount --move /dev /newroot/dev
exec /bin/busybox switch_root /newroot "$init"
END
}

# qemu_extract VMLINUZ OUT - the ELF kernel inside a bzImage: QEMU starts it
# directly (PVH) and no firmware has to unpack it under emulation.
qemu_extract()
{
	local sig tool pos

	while read -r sig tool; do
		while read -r pos; do
			tail -c +$((pos + 1)) "$1" | $tool >"$2.tmp" 2>/dev/null || true
			if [ "$(head -c 4 "$2.tmp" | tail -c 3)" = ELF ]; then
				mv "$2.tmp" "$2"
				return 0
			fi
		done < <(LC_ALL=C grep -aboP "$sig" "$1" | LC_ALL=C cut -d: -f1)
	done <<-'END'
		\x28\xb5\x2f\xfd zstd -dcq
		\xfd7zXZ\x00 xz -dcq
		\x1f\x8b\x08 gzip -dcq
		\x02\x21\x4c\x18 lz4 -dcq
	END
	rm -f "$2.tmp"
	return 1
}

# qemu_image_cross KERNEL ABI DIR - what belongs to the headers of another architecture's kernel, from where
# these are from
qemu_image_cross()
{
	local root

	root=$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "$1")
	note "downloading the kernel $2"
	{
		debian_in "$root" apt-get -q -y update && kernel_image "$root/image" "$2:$1" "$root"
	} >"$SHUFFLE_CACHE/image.log" 2>&1 || {
		tail -5 "$SHUFFLE_CACHE/image.log" >&2
		die "cannot download the kernel $2: is there a network?  If Debian has a newer one: rm -r $root"
	}
	rm -rf "$root"/var/lib/apt/lists/*_* "$3"
	depmod -b "$root/image" "$2"
	mv "$root/image" "$3"
}

# qemu_image KERNEL ABI - set image and kmoddir for one of Debian's kernels, from a root of Debian 13,
# from the installed package or from one downloaded into the cache.
qemu_image()
{
	local abi=$2 dir=$SHUFFLE_CACHE/image-$2 root

	case $1 in
	7 | rt)
		root=$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "$1")
		image=$root/vmlinuz
		qemu_kmoddir=$root/usr/lib/modules/$abi
		return
		;;
	arm64 | s390x)
		image=$dir/vmlinuz
		qemu_kmoddir=$dir/lib/modules/$abi
		[ -e "$image" ] || qemu_image_cross "$1" "$abi" "$dir"
		return
		;;
	esac
	if [ -r "/boot/vmlinuz-$abi" ] && [ -e "/lib/modules/$abi/modules.dep" ]; then
		image=/boot/vmlinuz-$abi
		qemu_kmoddir=/usr/lib/modules/$abi
		[ -d "$qemu_kmoddir" ] || qemu_kmoddir=/lib/modules/$abi
		return
	fi
	image=$dir/vmlinuz
	qemu_kmoddir=$dir/lib/modules/$abi
	[ ! -e "$image" ] || return 0
	note "downloading the kernel $abi"
	rm -rf "$dir"
	kernel_image "$dir.tmp" "$abi" >"$SHUFFLE_CACHE/image.log" 2>&1 || {
		tail -5 "$SHUFFLE_CACHE/image.log" >&2
		die "cannot download the kernel $abi: is there a network, and has 'apt-get update' been run?"
	}
	depmod -b "$dir.tmp" "$abi"
	mv "$dir.tmp" "$dir"
}

# qemu_prepare LANE KERNEL [DIR] - set qemu_kernel, qemu_initrd, qemu_kmoddir, for a kernel of DIR if it
# is given; qemu_system, QEMU's program; qemu_root, the guest's root: / or one of its architecture.
qemu_prepare()
{
	local kernel=$2 own=${3-} image abi tree m f need='' key busybox=/bin/busybox

	qemu_root=/ qemu_system=qemu-system-x86_64
	case $kernel in
	arm64 | s390x)
		arch_is "$kernel"
		qemu_root=$("$SHUFFLE_ROOT/selftests/vm/debian-root.sh" "guest-$kernel")
		qemu_system=$system busybox=$qemu_root/bin/busybox
		;;
	esac
	for m in "$qemu_system" busybox cpio depmod; do
		[ -n "$(PATH=$PATH:/usr/sbin:/sbin command -v "$m")" ] || die "$m is missing: run 'make deps'"
	done
	mkdir -p "$SHUFFLE_CACHE/boot"
	exec 6>"$SHUFFLE_CACHE/boot/lock"
	flock 6
	qemu_kmoddir=
	case $kernel in
	x86-debug | x86-kcsan)
		abi=$kernel
		image=$(kernel_build_dir "$kernel")/vmlinux
		qemu_kernel=$image
		;;
	*)
		if [ -n "$own" ]; then
			abi=$(ls "$own/lib/modules")
			image=$own/vmlinuz
			qemu_kmoddir=$(readlink -f "$own/lib/modules/$abi")
		else
			abi=$(debian_abi "$kernel")
			qemu_image "$kernel" "$abi"
		fi
		need="virtio_pci virtio_console 9pnet_virtio 9p"
		qemu_kernel=$SHUFFLE_CACHE/boot/vmlinux-$abi
		if [ "$qemu_root" != / ]; then
			qemu_kernel=$image
		elif [ ! "$qemu_kernel" -nt "$image" ]; then
			qemu_extract "$image" "$qemu_kernel" || die "cannot unpack $image"
			touch "$qemu_kernel"
		fi
		;;
	esac

	key=$({ qemu_init_script; sha256sum "$busybox"; stat -c '%s %Y' "$image"; echo "$need"; } |
		sha256sum | cut -c1-16)
	qemu_initrd=$SHUFFLE_CACHE/boot/initrd-$abi-$key
	if [ ! -e "$qemu_initrd" ]; then
		rm -f "$SHUFFLE_CACHE/boot/initrd-$abi-"*
		tree=$(mktemp -d "$SHUFFLE_CACHE/boot/tree.XXXXXX")
		mkdir -p "$tree"/{bin,dev,proc,newroot,modules}
		cp "$busybox" "$tree/bin/"
		qemu_init_script >"$tree/init"
		chmod +x "$tree/init"
		: >"$tree/modules/order"
		for m in $need; do
			PATH=$PATH:/usr/sbin:/sbin modprobe -d "${qemu_kmoddir%/lib/modules/*}/" -S "$abi" \
				--show-depends "$m" 2>/dev/null
		done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r f; do
			m=$(basename "$f")
			case $f in
			*.xz)  m=${m%.xz};  xz -dc "$f" >"$tree/modules/$m" ;;
			*.zst) m=${m%.zst}; zstd -dcq "$f" >"$tree/modules/$m" ;;
			*)     cp "$f" "$tree/modules/$m" ;;
			esac
			echo "$m" >>"$tree/modules/order"
		done
		(cd "$tree" && find . | cpio -o -H newc --quiet) >"$qemu_initrd.tmp"
		mv "$qemu_initrd.tmp" "$qemu_initrd"
		rm -rf "$tree"
	fi
	flock -u 6
}

# host_tsc - rate of the time stamp counter, which TCG hands to the guest, in kHz
host_tsc()
{
	local prog
	prog=$(mktemp /tmp/tsc-khz.XXXXXX)
	if [ "$(uname -m)" = x86_64 ] && gcc -O2 -o "$prog" "${BASH_SOURCE[0]%/*}/tsc-khz.c" 2>/dev/null; then
		"$prog"
	fi
	rm -f "$prog"
}

# qemu_command LANE MEGABYTES CONSOLE OUT PIPE CMDLINE - set qemu_cmd.  PIPE
# takes the script's output: a channel that is always open, so that the guest
# never waits for a reader to connect.
qemu_command()
{
	# Virtual time, 2 ns an instruction: what a busy host does is not the guest's fault.
	local cpus=(-accel "tcg,thread=single" -icount "shift=1,sleep=off" -smp 2) more='' khz
	local machine=q35 tty=ttyS0 clock='tsc=reliable no_timer_check' model=max,la57=off
	local patience='rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60'

	case $1 in
	# 6.1 waits for its second CPU in a loop that gives that CPU no turn; s390x does not boot with two.
	qemu-icount* | qemu-6.1 | qemu-s390x)
		cpus[-1]=1
		;;
	*-smp | qemu-debug | qemu-kcsan)
		# Two CPUs that really run at once.  A busy host may stop the guest for
		# half a minute: no stall of its own.
		cpus=(-accel "tcg,thread=multi" -smp 2)
		more='printk.time=1'
		# an emulated CPU does less in the time for which a real one is watched
		[ "$1" != qemu-kcsan ] || more+=' kcsan.skip_watch=100 kcsan.udelay_task=300'
		# With icount the guest's own calibration is exact, and its rate another one.
		khz=
		[ "$qemu_root" != / ] || khz=$(host_tsc)
		[ -z "$khz" ] || clock+=" tsc_early_khz=$khz"
		;;
	esac
	case $1 in
	qemu-arm64*) machine=virt tty=ttyAMA0 clock='' model=max ;;
	# With vectors (vx) Linux's checksums come out wrong in QEMU 7.2: ICMP and IPv6 do not get through.
	qemu-s390x*) machine=s390-ccw-virtio tty=ttysclp0 clock='' model=max,vx=off ;;
	esac
	# Time goes to the next timer as soon as both CPUs are idle, also while they wait for the
	# host to open a file, again and again until it has.  With a tick that never stops such a
	# timer is 4 ms away, and not seconds.
	[[ ${cpus[*]} != *icount* ]] || more='nohz=off'
	if [ "$machine" = q35 ]; then
		# A "rep movsb" counts an instruction for every byte: copying would cost as much as
		# everything else together.
		[[ ${cpus[*]} != *icount* ]] || model+=,erms=off
		# QEMU 7.2 with two processors sometimes leaves a register in the flags after a cmpxchg16b
		# (emulator.sh).  A processor without it is one for which SLUB takes another way.
		[ "${cpus[-1]}" = 1 ] || model+=,cx16=off
	fi
	qemu_cmd=("$qemu_system" "${cpus[@]}" -cpu "$model" -M "$machine" -m "$2"
		-kernel "$qemu_kernel" -initrd "$qemu_initrd"
		-append "console=$tty mitigations=off nokaslr $clock $patience rcupdate.rcu_expedited=1 shuffle_init=$here/guest-init.sh $6 $more"
		-nodefaults -display none -no-reboot -serial "file:$3"
		-device virtio-serial -chardev "file,id=out,path=$5" -device "virtserialport,chardev=out,name=out"
		-virtfs "local,path=$qemu_root,mount_tag=root,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$4,mount_tag=out,security_model=none,multidevs=remap")
}

# qemu_wire MINE,OTHER - give qemu_cmd a network device: what it sends goes from one socket to the other.
qemu_wire()
{
	qemu_cmd+=(-device "virtio-net,netdev=wire" -netdev
		"dgram,id=wire,local.type=unix,local.path=${1%,*},remote.type=unix,remote.path=${1#*,}")
}

# qemu_inside FOLDER... - have qemu_cmd run where the guest's own root has these folders of this machine.
qemu_inside()
{
	# shellcheck disable=SC2016 # for the inner shell
	qemu_cmd=(unshare --mount --propagation private bash -c '
		set -e
		root=$1
		while shift; [ "$1" != -- ]; do
			mkdir -p "$root$1"
			mount --bind "$1" "$root$1"
		done
		shift
		exec "$@"' qemu_inside "$qemu_root" "$@" -- "${qemu_cmd[@]}")
}
