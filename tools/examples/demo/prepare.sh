#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cut files into the demo's matrix: DIR/SENDER/RECEIVER for 8 x 8 messages,
# and their SHA-256 in DIR/sums.
#
# usage: prepare.sh DIR [FILE|FOLDER ...]
#
# Like a real shuffle: files are spread over the senders, and every piece goes
# to the receiver that a hash of its name and place picks.  So the sizes are
# uneven, and some messages may be empty.
set -euo pipefail

hosts=8
limit=$((${DEMO_MEGABYTES:-12} * 1000000))

die()
{
	printf 'prepare.sh: %s\n' "$*" >&2
	exit 1
}

dir=${1-}
[ -n "$dir" ] || die "usage: prepare.sh DIR [FILE|FOLDER ...]"
shift
# Programs are on every machine; documentation often is not.
[ $# -gt 0 ] || set -- /usr/bin
for f in "$@"; do
	[ -e "$f" ] || die "$f does not exist"
	[ -r "$f" ] || die "$f cannot be read"
done

rm -rf "$dir"
for ((i = 0; i < hosts; i++)); do
	mkdir -p "$dir/$i"
	for ((j = 0; j < hosts; j++)); do
		: >"$dir/$i/$j"
	done
done

# Size and name of every file, in an order that does not depend on the disk.
find "$@" -xdev -type f -size +0 -readable ! -name $'*\n*' ! -name '*[[:space:]]' -printf '%s\t%p\n' 2>/dev/null |
	LC_ALL=C sort -t "$(printf '\t')" -k2 -u >"$dir/files"
[ -s "$dir/files" ] || die "no files that can be read in: $*"

# The plan, one piece a line: sender, receiver, offset, length, file.  A piece
# is at most 1/128 of the whole.  From large folders every k-th file is taken.
LC_ALL=C awk -F '\t' -v limit=$limit -v hosts=$hosts '
function hash(s,    i, h)
{
	h = 5381
	for (i = 1; i <= length(s); i++)
		h = (h * 33 + code[substr(s, i, 1)]) % 2147483647
	return h
}
BEGIN { for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i }
{ size[NR] = $1; name[NR] = $2; all += $1 }
END {
	total = all < limit ? all : limit
	most = int(total / 128) + 1
	step = int(all / limit)
	if (step < 1)
		step = 1
	for (first = 1; first <= step && left() > 0; first++)
		for (n = first; n <= NR && left() > 0; n += step)
			for (off = 0; off < size[n] && left() > 0; off += len) {
				len = size[n] - off
				if (len > most)
					len = most
				if (len > left())
					len = left()
				h = hash(name[n] ":" off)
				printf "%d %d %d %d %s\n", pieces++ % hosts, \
					int(h / 7) % hosts, off, len, name[n]
				used += len
			}
}
function left() { return total - used }' "$dir/files" >"$dir/plan"

count=0
while read -r from to off len name; do
	dd if="$name" iflag=skip_bytes,count_bytes,fullblock skip="$off" count="$len" \
		bs=1M status=none >>"$dir/$from/$to" || die "cannot read $name"
	count=$((count + 1))
done <"$dir/plan"

(cd "$dir" && for ((i = 0; i < hosts; i++)); do
	for ((j = 0; j < hosts; j++)); do
		sha256sum "$i/$j"
	done
done) >"$dir/sums"
awk -v pieces="$count" '{ names[substr($0, index($0, $5))] = 1; sum += $4 }
END {
	for (n in names)
		files++
	printf "%d bytes: %d pieces of %d files in 8 x 8 messages\n", sum, pieces, files
}' "$dir/plan"
