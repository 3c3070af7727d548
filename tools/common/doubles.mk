# SPDX-License-Identifier: GPL-2.0-or-later
# For programs whose numbers are the same on every machine (tools/workload/rng.c): the first 32-bit
# x86 processors compute doubles with more bits than those have, later ones have SSE2.
ifneq ($(filter i386-% i486-% i586-% i686-%,$(shell $(CC) -dumpmachine)),)
override CFLAGS += -msse2 -mfpmath=sse
endif
