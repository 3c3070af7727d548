# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # KEEP and others: lib.sh
#
# shuffle-sort, a sort over AF_SHUFFLE sockets; to be sourced by run_all.sh.

sort_cases()
{
	# cases of one size have one rack, of which nothing is changed
	KEEP=1
	run_case sort-uniform-4 sort_kinds 4 uniform
	run_case sort-host-missing-4 sort_missing
	run_case sort-few-records-8 sort_few
	run_case sort-host-killed-8 sort_killed
	# what is the program's alone need not be seen on emulated processors
	case $LANE in
	qemu*) ;;
	*) sort_more_cases ;;
	esac
	KEEP=
	run_case sort-loss-4 sort_loss
	[[ $LANE = qemu* ]] || run_case sort-killed-in-shuffle-4 sort_killed_shuffle
}

sort_more_cases()
{
	run_case sort-uniform-8 sort_levels
	run_case sort-ordered-8 sort_kinds 8 sorted reversed
	run_case sort-empty-hosts-8 sort_empty
	run_case sort-text-8 sort_text
	run_case sort-skewed-4 sort_kinds 4 skewed clustered
	run_case sort-equal-4 sort_kinds 4 equal
	run_case sort-differs-4 sort_differs
	run_case sort-input-error-4 sort_input_error
	run_case sort-disk-full-4 sort_disk_full
	run_case sort-disk-full-runs-4 sort_disk_full_runs
	run_case sort-signal-4 sort_signal
	run_case sort-folder-4 sort_folder
	run_case sort-larger-than-memory-4 sort_memory
	run_case sort-alone sort_alone
}

# hosts_file N - the group file of a rack.
hosts_file()
{
	local h

	for ((h = 0; h < $1; h++)); do
		echo "10.77.0.$((h + 1)):7000"
	done >"$work/group"
}

sort_op=0

# sort_start HOST ARGS... - one host in the background, output in $state/sorted, messages in
# $work/err.HOST, its process in sort_pid[HOST]; quiet_sort=: with progress.
quiet_sort=--no-progress
sort_start()
{
	local h=$1
	shift

	# shellcheck disable=SC2086 # none or one
	ip netns exec "${PFX}h$h" "$BIN/shuffle-sort" -g "$work/group" -r "$h" \
		-o "$sort_op" -d "$state/sorted" $quiet_sort \
		"$@" >"$work/json.$h" 2>"$work/err.$h" &
	sort_pid[h]=$!
}

sort_begin()
{
	# in a file: cases and tries are subshells
	sort_op=$(($(cat "$state/sort-op" 2>/dev/null || echo 0) + 1))
	echo $sort_op >"$state/sort-op"
	sort_pid=()
	# a folder in $work would outlive its case, too
	rm -rf "$state/sorted" "$work"/err.* "$work"/json.*
}

# sort_wait - for all; fails unless all succeed.
sort_wait()
{
	local h rc=0

	for h in "${!sort_pid[@]}"; do
		wait "${sort_pid[h]}" || rc=1
	done
	[ $rc = 0 ] || diag "$(head -v -n 3 "$work"/err.*)"
	return $rc
}

# sort_all N ARGS... - on N hosts.
sort_all()
{
	local h n=$1
	shift

	sort_begin
	for ((h = 0; h < n; h++)); do
		sort_start "$h" -j --deadline $(($(tmo 60) * 1000)) "$@"
	done
	want_ok "the sort failed: $*" sort_wait
}

# sort_kinds HOSTS KEYS... - the result is what the hosts had, and parts are about equally large.
sort_kinds()
{
	local kind n=$1 each
	shift

	each=$(sz 2000 500)
	rack "$n"
	hosts_file "$n"
	for kind; do
		sort_all "$n" --generate "$each" --keys "$kind"
		want_ok "no input" \
			"$BIN/shuffle-sort" generate -n $((n * each)) --keys "$kind" "$work/in"
		want_ok "$kind: wrong" \
			"$BIN/shuffle-sort" verify -i "$work/in" --records $((n * each)) "$state/sorted"
		# splitters divide equal keys, too
		largest "$each" "$kind"
	done
}

# largest MEAN WHAT - no part has more than 1.7 times as many records.
largest()
{
	local h

	for h in "$state"/sorted/*; do
		want_le "$2" \
			"$(stat -c %s "$h")" $(($1 * 170)) "$(stat -c '%n %s' "$state"/sorted/*)"
	done
}

# Partitioning with more levels: the same result.
sort_levels()
{
	local r

	rack 8
	hosts_file 8
	sort_all 8 --generate 300 --reduction 10
	cat "$state"/sorted/? >"$work/one"
	for r in 2 3; do
		sort_all 8 --generate 300 --reduction "$r" --pivots $((5 * r))
		cat "$state"/sorted/? | cmp - "$work/one" || fail "reduction $r: another result"
		largest 300 "reduction $r"
	done
}

# Most hosts have nothing; or nobody has anything.
sort_empty()
{
	local h

	rack 8
	hosts_file 8
	sort_begin
	"$BIN/shuffle-sort" generate -n 1000 "$work/in"
	for ((h = 0; h < 8; h++)); do
		if [ "$h" = 5 ]; then
			sort_start "$h" "$work/in"
		else
			sort_start "$h" /dev/null
		fi
	done
	want_ok "seven empty hosts" sort_wait
	want_ok "wrong" "$BIN/shuffle-sort" verify -i "$work/in" "$state/sorted"
	largest 125 "seven empty hosts"
	sort_all 8 /dev/null --one-file
	want_ok "records out of nothing" \
		"$BIN/shuffle-sort" verify --records 0 "$state/sorted/sorted"
}

# Fewer records than hosts, of one byte, and with keys that are all of the record.
sort_few()
{
	local h in

	rack 8
	hosts_file 8
	sort_begin
	printf cab >"$work/in"
	for ((h = 0; h < 8; h++)); do
		in=/dev/null
		[ "$h" != 3 ] || in=$work/in
		sort_start "$h" --record-length 1 "$in"
	done
	want_ok "three records" sort_wait
	want_eq "not abc" "$(cat "$state"/sorted/?)" abc "$(head "$state"/sorted/?)"
	sort_all 8 --generate 1 --record-length 33 --key-length 3
	want_ok "eight records" \
		"$BIN/shuffle-sort" verify --record-length 33 --key-length 3 --records 8 "$state/sorted"
}

# one_file FILE - all hosts have written one file, which is like this one.
one_file()
{
	want_eq "not one file" "$(ls "$state/sorted")" sorted
	want_ok "one file is another one" cmp "$state/sorted/sorted" "$1"
}

# text_like ARGS... - lines as sort(1) has them; -s: lines with equal keys stay in their order.
text_like()
{
	local h

	sort_begin
	for ((h = 0; h < 8; h++)); do
		sort_start "$h" --text "$@" "$work/lines.$h"
	done
	want_ok "lines: $*" sort_wait
	LC_ALL=C sort -s "$@" "$work"/lines.? >"$work/want"
	cat "$state"/sorted/? | cmp - "$work/want" || fail "not what sort $* makes of it"
}

sort_text()
{
	local h

	rack 8
	hosts_file 8
	for ((h = 0; h < 8; h++)); do
		awk -v s="$h" 'BEGIN { srand(s); for (i = 0; i < 200 * (s != 2); i++)
			printf "%s%d:%c %d  w%d:%s\n", i % 7 ? "" : " ", rand() * 50, 97 + rand() * 5,
				rand() * 9, rand() * 1000, i % 5 ? "" : "end of line " i }' \
			>"$work/lines.$h"
	done
	# an empty line, and no line end at the end
	printf '\n\nlast' >>"$work/lines.3"
	text_like
	text_like -k 2,2
	text_like -t : -k 2
	# all in one file, where a longer one is left over
	sort_begin
	mkdir "$state/sorted"
	head -c 100000 /dev/zero >"$state/sorted/sorted.part"
	for ((h = 0; h < 8; h++)); do
		sort_start "$h" --text --one-file -t : -k 2 "$work/lines.$h"
	done
	want_ok "one file" sort_wait
	one_file "$work/want"
}

# A group of one; standard input.
sort_alone()
{
	rack 1
	hosts_file 1
	"$BIN/shuffle-sort" generate -n 500 --keys skewed "$work/in"
	sort_begin
	nsx h0 "$BIN/shuffle-sort" -g "$work/group" -r 0 -o 1 -d "$state/sorted" -e - \
		<"$work/in" >"$work/json.0" || fail "alone"
	want_ok "wrong" "$BIN/shuffle-sort" verify -i "$work/in" "$state/sorted"
	want_grep "no phases" "$(<"$work/json.0")" '^partition'
}

# expect_failure HOST TEXT - that host ends with an error that names the reason.
expect_failure()
{
	local rc=0

	wait "${sort_pid[$1]}" || rc=$?
	want_eq "host $1 ends with $rc" "$rc" 1 "$(cat "$work/err.$1")"
	want_grep "host $1 does not say \"$2\"" "$(<"$work/err.$1")" "$2"
	[ ! -e "$state/sorted/$1.part" ] || fail "host $1 leaves half a file"
}

# Hosts that do not agree end, and say which.
sort_differs()
{
	local h

	rack 4
	hosts_file 4
	sort_begin
	for h in 0 1 3; do
		sort_start "$h" --generate 10
	done
	sort_start 2 --generate 10 --key-length 9
	# whoever is the first to see it
	for h in 0 1 2 3; do
		expect_failure "$h" "has another key length: .*, here "
	done
	sort_begin
	for h in 0 1 2; do
		sort_start "$h" --text -k 2 /dev/null
	done
	sort_start 3 --text -k 2,3 /dev/null
	for h in 0 1 2 3; do
		expect_failure "$h" "has another last field: .*, here "
	done
	# folders that are not the same one
	sort_begin
	for h in 0 1 2 3; do
		sort_start "$h" --generate 10 --one-file -d "$state/sorted.$((h / 2))"
	done
	for h in 1 2 3; do
		wait "${sort_pid[h]}" || fail "host $h: $(cat "$work/err.$h")"
	done
	expect_failure 0 "bytes of 4000: is .*sorted.0 a folder that all hosts share?"
}

# One host's input is truncated: all hear of it at once.
sort_input_error()
{
	local h

	rack 4
	hosts_file 4
	sort_begin
	head -c 1234 /dev/zero >"$work/short"
	for h in 0 1 3; do
		sort_start "$h" --deadline 100000000 --generate 10
	done
	sort_start 2 --deadline 100000000 "$work/short"
	for h in 0 1 3; do
		expect_failure "$h" "host 2 (10.77.0.3:7000): .*short: 1234 bytes are no whole number"
	done
	expect_failure 2 "short: 1234 bytes are no whole number of records of 100 bytes"
}

sort_disk_full()
{
	local h

	rack 4
	hosts_file 4
	sort_begin
	mkdir -p "$state/sorted"
	ln -s /dev/full "$state/sorted/1.part"
	for h in 0 1 2 3; do
		sort_start "$h" --deadline 100000000 --generate 100
	done
	for h in 0 2 3; do
		expect_failure "$h" "host 1 (10.77.0.2:7000): .*1.part: cannot write: No space left"
	done
	expect_failure 1 "1.part: cannot write: No space left on device"
}

# The same of the files of runs, in a folder that has less space than the input.
sort_disk_full_runs()
{
	local h

	rack 4
	hosts_file 4
	sort_begin
	mkdir -p "$work/small"
	mount -t tmpfs -o size=300k none "$work/small"
	for h in 0 2 3; do
		sort_start "$h" --memory 1M --deadline 100000000 --generate 20000
	done
	sort_start 1 --memory 1M --deadline 100000000 --generate 20000 -d "$work/small"
	for h in 0 2 3; do
		expect_failure "$h" "host 1 (10.77.0.2:7000): .*cannot write a file of runs: No space left"
	done
	expect_failure 1 "cannot write a file of runs: No space left on device"
	want_eq "files are left" "$(ls "$work/small")" ""
	umount "$work/small"
	rmdir "$work/small"
}

# One that is asked to end tells the others.
sort_signal()
{
	rack 4
	hosts_file 4
	mkfifo "$work/fifo"
	sleep 1000 >"$work/fifo" &
	sort_begin
	quiet_sort=
	for h in 0 1 3; do
		sort_start "$h" --deadline 100000000 --generate 100
	done
	sort_start 2 --deadline 100000000 "$work/fifo"
	want_ok "host 2 does not read" wait_for 10 waits_in_pipe 2
	wait_for 20 grep -q 'host 0: .*, [0-9.]* MB received' "$work/err.0" ||
		fail "no progress: $(cat "$work/err.0")"
	kill -TERM "${sort_pid[2]}"
	for h in 0 1 3; do
		expect_failure "$h" "host 2 (10.77.0.3:7000): ended by signal 15"
	done
	expect_failure 2 "ended by signal 15 (Terminated)"
}

# waits_in_pipe HOST - its program has opened its input, and so its socket.
waits_in_pipe()
{
	[ "$(readlink "/proc/${sort_pid[$1]}/fd/"* | grep -c "$work/fifo")" = 1 ]
}

# Hosts that have folders, one of them with a folder in it; threads; and no output.
sort_folder()
{
	local h rank

	rack 4
	hosts_file 4
	sort_begin
	rm -rf "$state/folders"
	for h in 0 1 2 3; do
		mkdir -p "$state/folders/$h/folder"
		"$BIN/shuffle-sort" generate -n 100 --first $((h * 300)) "$state/folders/$h/b"
		"$BIN/shuffle-sort" generate -n 200 --first $((h * 300 + 100)) "$state/folders/$h/a"
		echo hidden >"$state/folders/$h/.hidden"
	done
	for h in 0 1 2 3; do
		sort_start "$h" --threads $((h + 1)) "$state/folders/$h"
	done
	want_ok "folders" sort_wait
	"$BIN/shuffle-sort" verify -i "$state/folders/0" -i "$state/folders/1" -i "$state/folders/2" \
		-i "$state/folders/3" --records 1200 "$state/sorted" || fail "wrong"
	sort_begin
	for h in 0 1 2 3; do
		ip netns exec "${PFX}h$h" "$BIN/shuffle-sort" -g "$work/group" -r "$h" -j -e \
			-o "$sort_op" --no-output "$state/folders/$h" >"$work/json.$h" 2>"$work/err.$h" &
		sort_pid[h]=$!
	done
	want_ok "no output" sort_wait
	for rank in 0 3; do
		want_grep "json.$rank" "$(<"$work/json.$rank")" '"records": 1200, .*"failed": \[\]'
	done
	[ ! -e "$state/sorted" ] || fail "output, want none"
}

# Runs in files: the same result as in memory, in several rounds, of which some are divided.
sort_memory()
{
	local h kind n

	rack 4
	hosts_file 4
	n=$(sz 9000 6000)
	for kind in skewed reversed equal; do
		sort_all 4 --generate "$n" --keys "$kind"
		cat "$state"/sorted/? >"$work/one"
		sort_all 4 --generate "$n" --keys "$kind" --memory 1000k
		cat "$state"/sorted/? | cmp - "$work/one" || fail "$kind: another result"
		largest "$n" "$kind"
	done
	sort_all 4 --generate "$n" --keys equal --memory 1000k --one-file
	one_file "$work/one"
	# all hosts have the same keys in order: a round is for one host
	sort_all 4 --generate "$n" --keys sorted --first 0 --memory 1000k
	want_ok "wrong" "$BIN/shuffle-sort" verify --records $((4 * n)) "$state/sorted"
	for h in 0 1 2 3; do
		awk -v s="$h" 'BEGIN { srand(s); for (i = 0; i < 6000 * s; i++)
			printf "%d w%d: %d:%s\n", s, rand() * 50, rand() * 1000,
				i % 9 ? "" : "end " i }' \
			>"$work/lines.$h"
	done
	sort_begin
	for h in 0 1 2 3; do
		sort_start "$h" --text -k 2 --memory 1000k "$work/lines.$h"
	done
	want_ok "lines" sort_wait
	LC_ALL=C sort -s -k 2 "$work"/lines.[0-3] >"$work/want"
	cat "$state"/sorted/? | cmp - "$work/want" || fail "not what sort -k 2 makes of it"
	want_eq "files are left" "$(find "$state/sorted" -type f | wc -l)" 4 "$(ls "$state/sorted")"
}

# A host is in some phase when it is killed: the others end within the deadline, with
# its name alone.  Once more with a longer one, if the machine was too slow for all to answer.
sort_killed()
{
	rack 8
	hosts_file 8
	(sort_killed_in input 2000) || sort_killed_in input 16000
	(sort_killed_in sort 2000) || sort_killed_in sort 16000
	(sort_killed_in partition 2000) || sort_killed_in partition 16000
	(sort_killed_in place 2000) || sort_killed_in place 16000
	(sort_killed_in output 2000) || sort_killed_in output 16000
}

# sort_killed_in input|sort|partition|place|output MS - it takes long there
sort_killed_in()
{
	local h others=(0 1 2 3 4 6 7) input=(--generate 100)

	sort_begin
	rm -f "$work/fifo"
	mkdir "$state/sorted"
	if [ "$1" = input ]; then
		mkfifo "$work/fifo"
		sleep 1000 >"$work/fifo" &
		input=("$work/fifo")
	elif [ "$1" = sort ]; then
		input+=(--charge sort=1e9)
	elif [ "$1" = place ]; then
		input+=(--charge place=1e9)
	elif [ "$1" = partition ]; then
		# after it has got the first message of the others
		input+=(--charge message=1e9)
	else
		mkfifo "$state/sorted/5.part"
	fi
	for h in "${others[@]}"; do
		sort_start "$h" -j --reduction 2 --deadline "$2" --generate 100
	done
	sort_start 5 --reduction 2 --deadline "$2" "${input[@]}"
	if [ "$1" = input ]; then
		want_ok "host 5 does not read" wait_for 10 waits_in_pipe 5
	else
		sleep 0.5
	fi
	kill -9 "${sort_pid[5]}"
	for h in "${others[@]}"; do
		expect_failure "$h" "host 5 (10.77.0.6:7000) does not answer"
		want_eq "host $h blames others" \
			"$(grep -c 'does not answer' "$work/err.$h")" 1 "$(cat "$work/err.$h")"
		want_grep "json.$h" "$(<"$work/json.$h")" '"failed": \[5\]'
	done
}

# A host is killed while its messages are on their way; again if the machine was too slow.
sort_killed_shuffle()
{
	new_rack 4
	hosts_file 4
	rate 20
	(sort_killed_sending 4000) || sort_killed_sending 16000
}

# sort_killed_sending MS
sort_killed_sending()
{
	local h

	sort_begin
	for h in 0 1 3; do
		sort_start "$h" -j --deadline "$1" --generate 50000
	done
	tx_at_start=$(tx_bytes 2)
	sort_start 2 --deadline "$1" --generate 50000
	wait_for 10 has_sent 2 500000 || fail "host 2 sends nothing: $(cat "$work/err.2")"
	kill -9 "${sort_pid[2]}"
	for h in 0 1 3; do
		expect_failure "$h" "host 2 (10.77.0.3:7000) does not answer"
	done
}

# tx_bytes HOST
tx_bytes()
{
	ip netns exec "${PFX}h$1" cat /sys/class/net/eth0/statistics/tx_bytes
}

# has_sent HOST BYTES - since tx_at_start
has_sent()
{
	[ $(($(tx_bytes "$1") - tx_at_start)) -gt "$2" ]
}

# A host that was never started.
sort_missing()
{
	local h

	rack 4
	hosts_file 4
	sort_begin
	for h in 0 1 3; do
		sort_start "$h" --deadline 1000 --generate 100
	done
	for h in 0 1 3; do
		expect_failure "$h" "host 2 (10.77.0.3:7000) does not answer"
	done
}

sort_loss()
{
	new_rack 4
	hosts_file 4
	netem loss 2%
	sort_all 4 --generate "$(sz 3000 500)" --reduction 2
	want_ok "wrong" "$BIN/shuffle-sort" verify --records $((4 * $(sz 3000 500))) "$state/sorted"
}
