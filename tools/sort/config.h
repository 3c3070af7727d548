/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line says. */
#ifndef SHUFFLE_SORT_CONFIG_H
#define SHUFFLE_SORT_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "records.h"

enum key_kind {
	KEYS_UNIFORM, KEYS_SKEWED, KEYS_CLUSTERED, KEYS_EQUAL, KEYS_SORTED, KEYS_REVERSED, KEY_KINDS
};

extern const char *const key_kind_names[KEY_KINDS];

/**
 * struct format - of records
 * @record: bytes; of text 0
 * @key: bytes that it begins with; of text 0
 * @text: lines
 * @first_field: of text: the key begins with this field, from 1; 0: all of the line
 * @last_field: and ends with it; 0: at the end of the line
 * @separator: between fields; 0: where blanks begin
 */
struct format {
	size_t record;
	size_t key;
	int text;
	unsigned int first_field;
	unsigned int last_field;
	char separator;
};

/**
 * struct generate - records made on the spot
 * @n: their number
 * @first: sequence number of the first one
 * @all: of all hosts, for keys in reverse order
 * @seed: of the random numbers
 * @kind: distribution of the keys
 * @ascii: printable records, with line ends
 */
struct generate {
	uint64_t n;
	uint64_t first;
	uint64_t all;
	uint64_t seed;
	enum key_kind kind;
	int ascii;
};

/**
 * struct files - input
 * @path: of each
 * @n: their number
 */
struct files {
	char **path;
	int n;
};

/* folder.c */
void files_init(struct files *f, char *const *path, int paths);
void files_free(struct files *f);

/* input.c */
void format_check(const struct format *f);
/**
 * struct chunks - who takes records in chunks
 * @bytes: of a chunk, about
 * @full: takes records, which are given back afterwards
 * @arg: for @full
 */
struct chunks {
	size_t bytes;
	void (*full)(void *arg, struct records *r);
	void *arg;
};

void read_files(struct records *r, const struct format *f, char *const *path, int files,
		const struct chunks *chunks);
void text_keys(struct records *r, const struct format *f, size_t klen, char *const *path);
size_t text_key(const struct format *f, const unsigned char *line, size_t len, size_t *at);

/* generate.c */
void generate_records(struct records *r, const struct format *f, const struct generate *g);
void generate_one(unsigned char *record, const struct format *f, const struct generate *g,
		  uint64_t i);
int generate_main(int argc, char **argv);

/* options.c */
int format_option(struct format *f, int opt, const char *arg);
int generate_option(struct generate *g, int opt, const char *arg);

/* verify.c */
int verify_main(int argc, char **argv);

/* host.c */
int host_main(int argc, char **argv);

#endif /* SHUFFLE_SORT_CONFIG_H */
