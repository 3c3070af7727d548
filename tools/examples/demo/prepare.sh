#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Make the demo's matrices of files: DIR/skewed and DIR/equal, in each SENDER/RECEIVER
# and "sums", their SHA-256.
#
# usage: prepare.sh DIR HOSTS [FILE|FOLDER ...]
#
# skewed: whole files, of the sizes that files have (the longest ones cut, so that none
#	is more than three quarters of what a host sends), between hosts that a hash picks, so that
#	all hosts send and receive about as much: each of them is a bottleneck
# equal: the same bytes, cut into messages of one length
#
# A host sends nothing to itself.
set -euo pipefail

limit=$((${DEMO_MEGABYTES:-24} * 1000000))

die()
{
	printf 'prepare.sh: %s\n' "$*" >&2
	exit 1
}

dir=${1-} hosts=${2-}
[ -n "$hosts" ] || die "usage: prepare.sh DIR HOSTS [FILE|FOLDER ...]"
shift 2
# Programs are on every machine; documentation often is not.
[ $# -gt 0 ] || set -- /usr/bin
for f in "$@"; do
	[ -e "$f" ] || die "$f does not exist"
	[ -r "$f" ] || die "$f cannot be read"
done

rm -rf "$dir"
mkdir -p "$dir"

# Size and name of every file, in an order that does not depend on the disk.
find "$@" -xdev -type f -size +0 -readable ! -name $'*\n*' ! -name '*[[:space:]]' -printf '%s\t%p\n' 2>/dev/null |
	LC_ALL=C sort -t "$(printf '\t')" -k2 -u >"$dir/files"
[ -s "$dir/files" ] || die "no files that can be read in: $*"

# What is taken, one piece a line: length, offset, file.  From large folders every k-th
# file, so that a message is about one file; more of them, and then the rest of long
# ones, if there is little in them.
LC_ALL=C awk -F '\t' -v limit="$limit" -v hosts="$hosts" '
{ size[NR] = $1; name[NR] = $2; all += $1; longest = $1 > longest ? $1 : longest }
END {
	total = all < limit ? all : limit
	most = int(0.75 * total / hosts) + 1
	step = int(NR / (hosts * (hosts - 1)))
	if (step < 1)
		step = 1
	for (off = 0; off < longest && left() > 0; off += most)
		for (first = 1; first <= step && left() > 0; first++)
			for (n = first; n <= NR && left() > 0; n += step)
				if (off < size[n])
					take(least(least(size[n] - off, most), left()))
}
function left() { return total - used }
function least(a, b) { return a < b ? a : b }
function take(len)
{
	printf "%d\t%d\t%s\n", len, off, name[n]
	used += len
}' "$dir/files" >"$dir/pieces"

# Which message each piece becomes a part of, the longest piece first: of those whose
# sender and receiver have room for it, one that a hash picks; without room, the one whose
# hosts have least.  The short ones at the end even the hosts out.
LC_ALL=C sort -t "$(printf '\t')" -k1,1nr -s "$dir/pieces" |
	LC_ALL=C awk -F '\t' -v hosts="$hosts" '
function hash(s,    i, h)
{
	h = 5381
	for (i = 1; i <= length(s); i++)
		h = (h * 33 + code[substr(s, i, 1)]) % 2147483647
	return h
}
function load(i, j) { return out[i] > in_[j] ? out[i] : in_[j] }
BEGIN { for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i }
{ len[NR] = $1; off[NR] = $2; name[NR] = $3; all += $1 }
END {
	for (n = 1; n <= NR; n++) {
		fit = 0
		for (c = 0; c < hosts * hosts; c++) {
			i = int(c / hosts)
			j = c % hosts
			if (i != j && load(i, j) + len[n] <= 1.01 * all / hosts)
				fits[fit++] = c
		}
		least = -1
		for (c = 0; !fit && c < hosts * hosts; c++) {
			i = int(c / hosts)
			j = c % hosts
			if (i != j && (least < 0 || load(i, j) < load(int(least / hosts), least % hosts)))
				least = c
		}
		c = fit ? fits[int(hash(name[n] ":" off[n]) / 7) % fit] : least
		i = int(c / hosts)
		j = c % hosts
		out[i] += len[n]
		in_[j] += len[n]
		print i, j, off[n], len[n], name[n]
	}
}' >"$dir/plan"

for m in skewed equal; do
	for ((i = 0; i < hosts; i++)); do
		mkdir -p "$dir/$m/$i"
		for ((j = 0; j < hosts; j++)); do
			: >"$dir/$m/$i/$j"
		done
	done
done
while read -r from to off len name; do
	dd if="$name" iflag=skip_bytes,count_bytes,fullblock skip="$off" count="$len" \
		bs=1M status=none >>"$dir/skewed/$from/$to" || die "cannot read $name"
done <"$dir/plan"

# All of it in a row, cut again.
cat "$dir"/skewed/*/* >"$dir/all"
len=$(($(stat -c %s "$dir/all") / (hosts * (hosts - 1))))
split -b $((len > 0 ? len : 1)) -a 3 -d "$dir/all" "$dir/part."
n=0
for ((i = 0; i < hosts; i++)); do
	for ((j = 0; j < hosts; j++)); do
		[ "$i" != "$j" ] || continue
		part=$dir/part.$(printf %03d "$n")
		[ ! -e "$part" ] || mv "$part" "$dir/equal/$i/$j"
		n=$((n + 1))
	done
done
rm -f "$dir/all" "$dir"/part.*

for m in skewed equal; do
	(cd "$dir/$m" && sha256sum ./*/* | sed 's# \./# #') >"$dir/$m/sums"
done
awk '{ names[substr($0, index($0, $5))] = 1; sum += $4 }
END {
	for (n in names)
		files++
	printf "%d bytes of %d files\n", sum, files
}' "$dir/plan"
