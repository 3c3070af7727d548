#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Copy the project's own files: tracked or new, not ignored.
#
# usage: copy-sources.sh FOLDER
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$root"
if [ -e .git ] && command -v git >/dev/null; then
	git -c safe.directory='*' ls-files -co --exclude-standard | while read -r f; do
		[ ! -e "$f" ] || echo "$f"
	done | rsync -a --files-from=- . "$1/"
else
	rsync -a --exclude=/build --exclude='*.o' . "$1/"
fi
