#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh with a QEMU that is a shell script: which deaths of a guest are followed
# by another boot.  No kernel runs.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Its N-th start does the N-th word of FAKE: early dies before init, late after
# it, and a number is the status of the script.
mkdir "$dir/bin"
cat >"$dir/bin/qemu-system-x86_64" <<'END'
#!/bin/bash
for arg; do
	case $arg in
	*shuffle_run=*) run=${arg##*shuffle_run=} run=${run%% *} ;;
	file:*) console=${arg#file:} ;;
	esac
done
echo boot >>"$FAKE_DIR/boots"
n=$(wc -l <"$FAKE_DIR/boots")
read -ra acts <<<"$FAKE"
echo "kernel: boot $n" >>"$console"
case ${acts[n - 1]} in
early) echo 'Oops: int3: 0000 [#1] PREEMPT SMP' >>"$console" ;;
late)
	: >"$run/started"
	echo 'Oops: 0000 [#1] PREEMPT SMP' >>"$console"
	;;
*)
	: >"$run/started"
	echo "${acts[n - 1]}" >"$run/status"
	;;
esac
END
chmod +x "$dir/bin/qemu-system-x86_64"

# expect STATUS BOOTS WORDS ACTS - run.sh ends so, after so many boots, and says so.
expect()
{
	local status=0 boots

	rm -f "$dir/boots"
	PATH=$dir/bin:$PATH FAKE=$4 FAKE_DIR=$dir "$here/run.sh" qemu-6.12 -N -t 60 -o "$dir/out" \
		"$here/boot_test.sh" >"$dir/said" 2>&1 </dev/null || status=$?
	echo "status $status" >>"$dir/said"
	boots=$(wc -l <"$dir/boots")
	if [ "$status" != "$1" ] || [ "$boots" != "$2" ] || ! grep -q "^$3" "$dir/said"; then
		echo "guest '$4': status $status, boots $boots; expected $1, $2 and '$3'; said:"
		cat "$dir/said"
		exit 1
	fi
	[ ! -e "$dir/out/console.log" ] || [ "$(grep -c 'kernel: boot' "$dir/out/console.log")" = 1 ] || {
		echo "guest '$4': the console is not that of one boot"
		exit 1
	}
}

expect 1 1 'status' "1"
expect 3 3 '# lane.*booting again (2 of 2)' "early early 3"
expect 70 3 'lane.*: the guest died (' "early early early"
expect 70 1 'lane.*: the guest died (' "late 0"
expect 70 2 'lane.*: the guest died (' "early late 0"
