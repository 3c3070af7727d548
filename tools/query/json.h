/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings and rows as JSON. */
#ifndef QUERY_JSON_H
#define QUERY_JSON_H

#include <stdio.h>

#include "column.h"

/* Bytes that are no UTF-8 become U+FFFD. */
void json_text(FILE *f, struct text t);
void json_rows(FILE *f, const struct batch *b);

#endif /* QUERY_JSON_H */
