/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers with units, as people type them. */
#ifndef SHUFFLECTL_PARSE_H
#define SHUFFLECTL_PARSE_H

#include <stdint.h>

#include "out.h"

int parse_u64(const char *word, uint64_t *value);
int parse_unit(const char *word, enum out_unit unit, uint64_t *value);
const char *parse_example(enum out_unit unit);

#endif
