#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: the selftests of the tree, as kselftest runs them, and the unit tests.
#
# usage: KERNEL=its build, AS=y|m guest.sh FOLDER, of installed selftests
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)

# passed FILE - tests, none that has not, and none that was skipped as a whole
passed()
{
	grep -q '^ok ' "$1" && ! grep -qE '^not ok |^ok .*# SKIP' "$1"
}

if [ "$AS" = m ]; then
	insmod "$KERNEL/net/shuffle/shuffle.ko" || exit 1
fi
cd "$1" || exit 1
./run_kselftest.sh | tee /tmp/kselftest
insmod "$KERNEL/lib/kunit/kunit.ko" || exit 1
SHUFFLE_KO=$KERNEL/net/shuffle/shuffle.ko "$here/../selftests/vm/kunit.sh" | tee /tmp/kunit || exit 1
passed /tmp/kselftest && passed /tmp/kunit
