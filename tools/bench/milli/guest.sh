#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest.py, for run.sh, which starts scripts of bash.
set -euo pipefail
exec python3 -B "$(dirname "$0")/guest.py" "$@"
