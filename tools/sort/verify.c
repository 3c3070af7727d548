// SPDX-License-Identifier: GPL-2.0-or-later
/* The output of a sort: order, number, checksum.  What valsort does, for many files. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "util.h"

/**
 * struct check - records that have been looked at
 * @v: what is wanted
 * @sum: their number and checksum
 * @equal: how many have the key of the one before
 * @unordered: how many precede the one before
 * @key: the last key
 * @klen: bytes of it
 * @any: there is one
 * @ordered: order counts
 * @where: of the first that is out of order
 */
struct check {
	const struct verify *v;
	struct checksum sum;
	uint64_t equal;
	uint64_t unordered;
	unsigned char key[SORT_MAX_RECORD];
	size_t klen;
	int any;
	int ordered;
	char where[4200];
};

static void check_one(struct check *c, const unsigned char *key, size_t klen, const char *path,
		      size_t i)
{
	size_t both = klen < c->klen ? klen : c->klen;
	int d = memcmp(c->key, key, both);

	if (c->any) {
		d = d ? d : (c->klen > klen) - (c->klen < klen);
		c->equal += !d;
		if (d > 0 && !c->unordered++)
			snprintf(c->where, sizeof(c->where), "%s: %s %zu", path,
				 c->v->format.text ? "line" : "record", i + 1);
	}
	memcpy(c->key, key, klen);
	c->klen = klen;
	c->any = 1;
}

static void check_file(struct check *c, char *path)
{
	struct records r;
	size_t i, len, at;

	read_files(&r, &c->v->format, &path, 1, NULL);
	for (i = 0; i < r.n; i++) {
		const unsigned char *value = record_value(&r, i, &len);
		const unsigned char *key = r.text ? value : r.key + i * r.klen;

		checksum_add(&c->sum, key, r.text ? 0 : r.klen, value, len);
		if (!c->ordered)
			continue;
		if (r.text) {
			size_t klen = text_key(&c->v->format, value, len, &at);

			check_one(c, value + at, klen, path, i);
		} else {
			check_one(c, key, r.klen, path, i);
		}
	}
	records_free(&r);
}

static void check_path(struct check *c, char *path)
{
	char name[4096];
	struct files f;
	unsigned int i;
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		check_file(c, path);
		return;
	}
	for (i = 0;; i++) {
		if ((size_t)snprintf(name, sizeof(name), "%s/%u", path, i) >= sizeof(name))
			die("%s: the name is too long", path);
		if (access(name, F_OK))
			break;
		check_file(c, name);
	}
	if (i)
		return;
	/* no output of a sort: the input of one */
	if (c->ordered)
		die("%s: there is no file 0", path);
	files_init(&f, &path, 1);
	for (i = 0; i < (unsigned int)f.n; i++)
		check_file(c, f.path[i]);
	files_free(&f);
}

/**
 * verify_run() - look at the output of a sort, and say what it is
 * @v: what is wanted
 *
 * Return: exit status: 0 if all is as wanted.
 */
int verify_run(struct verify *v)
{
	struct check *c = memory(1, sizeof(*c)), *in = memory(1, sizeof(*in));
	const char *wrong = NULL;
	int i;

	c->v = v;
	c->ordered = 1;
	in->v = v;
	for (i = 0; i < v->paths; i++)
		check_path(c, v->path[i]);
	for (i = 0; i < v->inputs; i++)
		check_path(in, v->input[i]);
	if (c->unordered)
		wrong = "not in order";
	else if (v->inputs && c->sum.records != in->sum.records)
		wrong = "not as many records as the input";
	else if (v->inputs && !checksum_same(&c->sum, &in->sum))
		wrong = "not the records of the input";
	else if (v->have_records && v->records != c->sum.records)
		wrong = "not as many records as wanted";
	else if (v->have_checksum && v->checksum != c->sum.sum)
		wrong = "not the checksum that is wanted";
	if (v->json)
		printf("{\"ok\": %s, \"records\": %llu, \"bytes\": %llu, \"equal_keys\": %llu, "
		       "\"out_of_order\": %llu, \"checksum\": \"%016llx\"}\n",
		       wrong ? "false" : "true", (unsigned long long)c->sum.records,
		       (unsigned long long)c->sum.bytes, (unsigned long long)c->equal,
		       (unsigned long long)c->unordered, (unsigned long long)c->sum.sum);
	else
		printf("%llu records, %llu with the key of the one before, checksum %016llx\n",
		       (unsigned long long)c->sum.records, (unsigned long long)c->equal,
		       (unsigned long long)c->sum.sum);
	if (c->unordered)
		fprintf(stderr, "shuffle-sort: %llu out of order, the first: %s\n",
			(unsigned long long)c->unordered, c->where);
	else if (wrong)
		fprintf(stderr, "shuffle-sort: %s\n", wrong);
	free(c);
	free(in);
	return !!wrong;
}
