// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-wordcount: one member of a group that counts words.  Each counts those of its own files,
 * counts are summed by word on their way along a tree of members, and one member prints them.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "shuffle_keys.h"

#define READ_BYTES	(256U << 10)
#define TELL_NS		2000000000ULL	/* progress */

static const char usage_text[] =
"Usage: shuffle-wordcount --group GROUP --rank R [options] [FILE...]\n"
"\n"
"One member of a group that counts words: of its own FILEs, or of the standard\n"
"input.  Start one at every member.  Counts are summed by word at members on the\n"
"way to the receiver, which prints them.  A word is a sequence of letters, digits\n"
"and bytes from 128 on.\n"
"\n"
"  -g, --group GROUP    members: a file with one ADDRESS:PORT a line, or a list\n"
"                       ADDRESS:PORT,ADDRESS:PORT,...; the same everywhere\n"
"  -r, --rank R         which of them is this one, from 0\n"
"  -R, --receiver R     rank of the member that prints the result (default 0)\n"
"  -n, --top N          the N words that are counted most, and not all in order\n"
"  -i, --ignore-case    capital letters A to Z are the same as small ones\n"
"  -p, --pattern NAME   the tree: auto (default), tree, flat, chain, cool-p-p\n"
"  -t, --timeout MS     wait so long for each step of the tree (default: the idle\n"
"                       timeout of the system)\n"
"  -j, --json           print JSON\n"
"      --hash-bits N    bits of a word's key, 1 to 64 (default 64); few are to\n"
"                       show what two words with one key do\n"
"  -h, --help           this text\n"
"\n"
"Exit status: 0 all members are counted, 1 not, 2 wrong usage.\n";

enum { OPT_HASH_BITS = 256 };

static const struct option options[] = {
	{ "group", required_argument, NULL, 'g' },
	{ "rank", required_argument, NULL, 'r' },
	{ "receiver", required_argument, NULL, 'R' },
	{ "top", required_argument, NULL, 'n' },
	{ "ignore-case", no_argument, NULL, 'i' },
	{ "pattern", required_argument, NULL, 'p' },
	{ "timeout", required_argument, NULL, 't' },
	{ "json", no_argument, NULL, 'j' },
	{ "hash-bits", required_argument, NULL, OPT_HASH_BITS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct count {
	struct group group;
	unsigned int rank, receiver, bits;
	uint64_t top, timeout_ms;
	int ignore_case, json;
	const char *pattern;

	struct shuffle_key_names *names;
	uint64_t words, bytes, told_ns;
	char word[SHUFFLE_KEY_NAME_BYTES];
	size_t len;			/* of the word that has begun */
};

static void parse(struct count *wc, int argc, char **argv)
{
	const char *group = NULL;
	int opt, have_rank = 0;

	wc->bits = 64;
	wc->pattern = "auto";
	while ((opt = getopt_long(argc, argv, "g:r:R:n:ip:t:jh", options, NULL)) != -1) {
		switch (opt) {
		case 'g':
			group = optarg;
			break;
		case 'r':
			wc->rank = arg_number("--rank", optarg, SHUFFLE_MAX_MEMBERS - 1);
			have_rank = 1;
			break;
		case 'R':
			wc->receiver = arg_number("--receiver", optarg, SHUFFLE_MAX_MEMBERS - 1);
			break;
		case 'n':
			wc->top = arg_number("--top", optarg, UINT32_MAX);
			break;
		case 'i':
			wc->ignore_case = 1;
			break;
		case 'p':
			wc->pattern = optarg;
			break;
		case 't':
			wc->timeout_ms = arg_number("--timeout", optarg, UINT32_MAX);
			break;
		case 'j':
			wc->json = 1;
			break;
		case OPT_HASH_BITS:
			wc->bits = arg_number("--hash-bits", optarg, 64);
			if (!wc->bits)
				errx(2, "--hash-bits: a key has at least 1 bit");
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fprintf(stderr, "Try \"shuffle-wordcount --help\".\n");
			exit(2);
		}
	}
	if (!group || !have_rank)
		errx(2, "--group and --rank are needed, see --help");
	group_read(&wc->group, group);
	if (wc->rank >= wc->group.count)
		errx(2, "--rank %u: the group has %u members, counted from 0", wc->rank,
		     wc->group.count);
	if (wc->receiver >= wc->group.count)
		errx(2, "--receiver %u: the group has %u members, counted from 0", wc->receiver,
		     wc->group.count);
}

/* ---- our own words ---- */

static int in_word(unsigned char c)
{
	return c >= 128 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static void end_word(struct count *wc)
{
	struct shuffle_keys_fault fault = { 0 };
	struct shuffle_key_name *name;

	if (!wc->len)
		return;
	name = shuffle_key_of(wc->names, wc->word, wc->len, &fault);
	if (!name && errno == ENOTUNIQ)
		errx(1, "member %u: %s", wc->rank, fault.text);
	if (!name)
		err(1, "member %u: its words", wc->rank);
	name->value++;
	wc->words++;
	wc->len = 0;
}

static void progress(struct count *wc)
{
	uint64_t now = now_ns();

	if (now - wc->told_ns < TELL_NS)
		return;
	wc->told_ns = now;
	fprintf(stderr, "member %u: %" PRIu64 " MB read\n", wc->rank, wc->bytes / 1000000);
}

static void count_file(struct count *wc, FILE *f, const char *path)
{
	static unsigned char buf[READ_BYTES];
	size_t n, i;

	while ((n = fread(buf, 1, sizeof(buf), f))) {
		for (i = 0; i < n; i++) {
			unsigned char c = buf[i];

			if (!in_word(c)) {
				end_word(wc);
				continue;
			}
			if (wc->len == sizeof(wc->word))
				errx(1, "%s: a word of more than %u bytes", path,
				     SHUFFLE_KEY_NAME_BYTES);
			if (wc->ignore_case && c >= 'A' && c <= 'Z')
				c += 'a' - 'A';
			wc->word[wc->len++] = c;
		}
		wc->bytes += n;
		progress(wc);
	}
	end_word(wc);
	if (ferror(f))
		err(1, "%s", path);
}

static void count_files(struct count *wc, char **paths)
{
	FILE *f;

	wc->told_ns = now_ns();
	if (!*paths)
		count_file(wc, stdin, "standard input");
	for (; *paths; paths++) {
		f = fopen(*paths, "re");
		if (!f)
			err(1, "%s", *paths);
		count_file(wc, f, *paths);
		fclose(f);
	}
}

/* Words and their counts, one record each. */
static struct shuffle_key_value *own_records(const struct count *wc, size_t *n)
{
	const struct shuffle_key_name *name;
	struct shuffle_key_value *record = NULL;
	size_t room = 0;

	for (*n = 0; (name = shuffle_key_at(wc->names, *n)); (*n)++) {
		if (*n == room) {
			room = room ? 2 * room : 1024;
			record = reallocarray(record, room, sizeof(*record));
			if (!record)
				err(1, "words");
		}
		record[*n].key = name->key;
		record[*n].value = name->value;
	}
	return record;
}

/* ---- the words of all ---- */

struct word {
	const struct shuffle_key_name *name;
	uint64_t count;
};

static int by_name(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	size_t len = x->name->len < y->name->len ? x->name->len : y->name->len;
	int rc = memcmp(x->name->name, y->name->name, len);

	return rc ? rc : (x->name->len > y->name->len) - (x->name->len < y->name->len);
}

static int by_count(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_name(a, b);
}

/* Bytes of the UTF-8 character that begins here; 0: none does. */
static size_t utf8_bytes(const unsigned char *s, size_t left)
{
	size_t i, n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

	if (n > left || !n || *s > 0xf4)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* longer than need be, surrogates, and what is behind the last character */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static int is_utf8(const char *s, size_t len)
{
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = utf8_bytes((const unsigned char *)s + i, len - i);
		if (!n)
			return 0;
	}
	return 1;
}

/* Words of other members may have any bytes, if these members run another program. */
static int is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static void print_json_string(const char *s, size_t len)
{
	int utf8 = is_utf8(s, len);
	size_t i;

	putchar('"');
	for (i = 0; i < len; i++) {
		if (is_control(s[i]) || s[i] == '"' || s[i] == '\\' || (!utf8 && s[i] & 0x80))
			printf("\\u%04x", (unsigned char)s[i]);
		else
			putchar(s[i]);
	}
	putchar('"');
}

static void print_text(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		putchar(is_control(s[i]) ? '?' : s[i]);
	putchar('\n');
}

static void print_words(const struct count *wc, struct word *word, size_t n)
{
	size_t i, shown = wc->top && wc->top < n ? wc->top : n;
	uint64_t all = 0;

	for (i = 0; i < n; i++)
		all += word[i].count;
	if (n)
		qsort(word, n, sizeof(*word), wc->top ? by_count : by_name);
	if (wc->json)
		printf("{\"members\": %u, \"words\": %" PRIu64 ", \"distinct\": %zu, \"counts\": [",
		       wc->group.count, all, n);
	for (i = 0; i < shown; i++) {
		const struct shuffle_key_name *name = word[i].name;

		if (!wc->json) {
			printf("%7" PRIu64 " ", word[i].count);
			print_text(name->name, name->len);
			continue;
		}
		printf("%s\n{\"word\": ", i ? "," : "");
		print_json_string(name->name, name->len);
		printf(", \"count\": %" PRIu64 "}", word[i].count);
	}
	if (wc->json)
		printf("]}\n");
	if (fflush(stdout) || ferror(stdout))
		err(1, "cannot write the result");
}

static void report(const struct count *wc, const struct shuffle_key_value *record, size_t n)
{
	struct word *word = calloc(n + 1, sizeof(*word));
	size_t i;

	if (!word)
		err(1, "words");
	for (i = 0; i < n; i++) {
		word[i].name = shuffle_key_find(wc->names, record[i].key);
		word[i].count = record[i].value;
		if (!word[i].name)
			errx(1, "key %016" PRIx64 " has no word", record[i].key);
	}
	print_words(wc, word, n);
	free(word);
}

static struct shuffle_coll *join(const struct count *wc, int *fd)
{
	struct shuffle_coll *coll;
	char name[80];

	*fd = shuffle_open(wc->group.members, wc->group.count, wc->rank, SOCK_CLOEXEC);
	if (*fd < 0 && errno == EAFNOSUPPORT)
		errx(1, "this kernel has no AF_SHUFFLE: load the module shuffle");
	if (*fd < 0)
		err(1, "cannot join the group as %s",
		    shuffle_addr_str(&wc->group.members[wc->rank], name, sizeof(name)));
	coll = shuffle_coll_new(*fd, wc->rank, wc->group.count, 1);
	if (!coll)
		err(1, "no collectives");
	shuffle_coll_timeout(coll, wc->timeout_ms);
	if (shuffle_coll_pattern(coll, wc->pattern, 0))
		errx(2, "--pattern: there is no \"%s\"", wc->pattern);
	return coll;
}

static void failed(const struct count *wc, const struct shuffle_keys_fault *fault)
{
	if (!fault->text[0])
		err(1, "member %u", wc->rank);
	errx(1, "%s (%s)", fault->text, strerror(fault->error));
}

int main(int argc, char **argv)
{
	static struct count wc;
	struct shuffle_keys_options o = { .size = sizeof(o), .oper = SHUFFLE_KEYS_SUM };
	struct shuffle_key_value *own, *all;
	struct shuffle_keys_fault fault;
	struct shuffle_coll *coll;
	size_t n, all_n;
	int fd;

	parse(&wc, argc, argv);
	coll = join(&wc, &fd);
	wc.names = shuffle_key_names_new(wc.bits, 0);
	if (!wc.names)
		err(1, "words");
	count_files(&wc, argv + optind);
	own = own_records(&wc, &n);
	/* first the words: two with one key must not be summed */
	if (shuffle_reduce_names(coll, wc.names, wc.receiver, &fault) ||
	    shuffle_reduce_by_key(coll, own, n, &all, &all_n, &o, wc.receiver, &fault))
		failed(&wc, &fault);
	if (wc.rank == wc.receiver)
		report(&wc, all, all_n);
	if (shuffle_coll_free(coll))
		err(1, "not all has arrived");
	close(fd);
	free(all);
	free(own);
	shuffle_key_names_free(wc.names);
	return 0;
}
