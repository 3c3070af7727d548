#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the scripts that build and boot kernels: cache location, messages,
# progress.  Sourced, never run.

SHUFFLE_CACHE=${SHUFFLE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/shuffle}
export SHUFFLE_CACHE

die()
{
	printf 'error: %s\n' "$*" >&2
	exit 1
}

note()
{
	printf '   %s\n' "$*" >&2
}

# progress_while PID LOG NAME TOTAL - show lines of LOG against an expected
# TOTAL until PID ends; every 2 s on a terminal, every 60 s in a file.
progress_while()
{
	local pid=$1 log=$2 name=$3 total=$4 start=$SECONDS last=0 n pct

	while kill -0 "$pid" 2>/dev/null; do
		sleep 2
		n=$(wc -l <"$log")
		pct=$((n * 100 / total))
		[ "$pct" -lt 99 ] || pct=99
		if [ -t 2 ]; then
			printf '\r   %s: %d %%, %d s ' "$name" "$pct" $((SECONDS - start)) >&2
		elif [ $((SECONDS - last)) -ge 60 ]; then
			last=$SECONDS
			note "$name: $pct %, $((SECONDS - start)) s"
		fi
	done
	[ ! -t 2 ] || printf '\n' >&2
}
