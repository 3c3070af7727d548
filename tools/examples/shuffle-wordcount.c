// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-wordcount: one member of a group that counts words.  Each counts those of its own files,
 * counts are summed by word on their way along a tree of members, or of hosts with relays, and one
 * member prints them.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wordcount.h"

#define READ_BYTES	(256U << 10)

static const char usage_text[] =
"Usage: shuffle-wordcount --group GROUP [--rank R] [options] [FILE...]\n"
"\n"
"One member of a group that counts words: of its own FILEs, or of the standard\n"
"input.  Start one at every member.  Counts are summed by word at members on the\n"
"way to the receiver, which prints them.  A word is a sequence of letters, digits\n"
"and bytes from 128 on.\n"
"\n"
"  -g, --group GROUP    members: a file with one ADDRESS:PORT a line, or a list\n"
"                       ADDRESS:PORT,ADDRESS:PORT,...; the same everywhere\n"
"  -r, --rank R         which of them is this one, from 0 (as mpirun or srun says)\n"
"  -R, --receiver R     rank of the member that prints the result (default 0)\n"
"  -n, --top N          the N words that are counted most, and not all in order\n"
"  -i, --ignore-case    capital letters A to Z are the same as small ones\n"
"  -p, --pattern NAME   the tree: auto (default), tree, flat, chain, cool-p-p\n"
"  -t, --timeout MS     wait so long for each step of the tree (default: the idle\n"
"                       timeout of the system)\n"
"      --roles FILE     hosts on the way sum the counts, relays too: who sends to whom,\n"
"                       as \"shuffle-plan-install roles\" prints it, which names the\n"
"                       receiver, too\n"
"  -o, --op N           with --roles: the operations are N and N + 1, other ones each\n"
"                       time that the group counts (default: the members agree)\n"
"  -j, --json           print JSON\n"
"      --hash-bits N    bits of a word's key, 1 to 64 (default 64; with --roles at\n"
"                       most 56); few are to show what two words with one key do\n"
"  -h, --help           this text\n"
"\n"
"Exit status: 0 all members are counted, 1 not, 2 wrong usage.\n";

enum { OPT_HASH_BITS = 256, OPT_ROLES };

static const struct option options[] = {
	{ "group", required_argument, NULL, 'g' },
	{ "rank", required_argument, NULL, 'r' },
	{ "receiver", required_argument, NULL, 'R' },
	{ "top", required_argument, NULL, 'n' },
	{ "ignore-case", no_argument, NULL, 'i' },
	{ "pattern", required_argument, NULL, 'p' },
	{ "timeout", required_argument, NULL, 't' },
	{ "roles", required_argument, NULL, OPT_ROLES },
	{ "op", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "hash-bits", required_argument, NULL, OPT_HASH_BITS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void parse(struct count *wc, int argc, char **argv)
{
	const char *group = NULL;
	int opt, have_receiver = 0;

	wc->rank = GROUP_RANK_UNKNOWN;
	wc->bits = 64;
	while ((opt = getopt_long(argc, argv, "g:r:R:n:ip:t:o:jh", options, NULL)) != -1) {
		switch (opt) {
		case 'g':
			group = optarg;
			break;
		case 'r':
			wc->rank = arg_number("--rank", optarg, SHUFFLE_MAX_MEMBERS - 1);
			break;
		case 'R':
			wc->receiver = arg_number("--receiver", optarg, SHUFFLE_MAX_MEMBERS - 1);
			have_receiver = 1;
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
		case OPT_ROLES:
			wc->roles = optarg;
			break;
		case 'o':
			wc->op = arg_number("--op", optarg, UINT64_MAX - 1);
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
	if (wc->roles && (have_receiver || wc->pattern))
		errx(2, "--roles has the receiver and the tree: no --receiver, no --pattern");
	if (wc->op && !wc->roles)
		errx(2, "--op: only with --roles");
	if (!group)
		errx(2, "--group is needed, see --help");
	wc->rank = group_join(&wc->group, group, wc->rank);
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
	struct shuffle_tree_end end;
	uint64_t now = now_ns();

	/* neighbours are heard, and nothing has begun that could end */
	if (wc->tree)
		shuffle_tree_wait(wc->tree, &end, 0);
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

static void report(const struct count *wc, const struct shuffle_key_value *record, size_t n)
{
	struct word *word = calloc(n + 1, sizeof(*word));
	const struct shuffle_key_name *name;
	size_t i;

	if (!word)
		err(1, "words");
	for (i = 0; i < n; i++) {
		name = shuffle_key_find(wc->names, record[i].key);
		if (!name)
			errx(1, "key %016" PRIx64 " has no word", record[i].key);
		word[i].name = name->name;
		word[i].len = name->len;
		word[i].count = record[i].value;
	}
	print_words(wc, word, n, "");
	free(word);
}

static void no_family(void)
{
	if (errno == EAFNOSUPPORT)
		errx(1, "%s", shuffle_family_str());
}

static int join(const struct count *wc)
{
	int fd = shuffle_open(wc->group.members, wc->group.count, wc->rank, SOCK_CLOEXEC);
	char name[80];

	if (fd >= 0)
		return fd;
	no_family();
	err(1, "cannot join the group as %s",
	    shuffle_addr_str(&wc->group.members[wc->rank], name, sizeof(name)));
}

/* How long members may be behind one another when they begin, ms. */
static uint64_t agree_ms(const struct count *wc)
{
	return wc->timeout_ms ? wc->timeout_ms : 60000;
}

static struct shuffle_coll *collectives(const struct count *wc, int fd)
{
	const char *pattern = wc->pattern ? wc->pattern : "auto";
	struct shuffle_coll *coll;
	unsigned int missing;
	uint64_t op;

	if (shuffle_agree(fd, wc->group.count, agree_ms(wc), &op, &missing))
		err(1, "member %u: nothing comes", missing < wc->group.count ? missing : wc->rank);
	coll = shuffle_coll_new(fd, wc->rank, wc->group.count, op);
	if (!coll)
		err(1, "no collectives");
	shuffle_coll_timeout(coll, wc->timeout_ms);
	if (shuffle_coll_pattern(coll, pattern, 0))
		errx(2, "--pattern: there is no \"%s\"", pattern);
	return coll;
}

static void failed(const struct count *wc, const struct shuffle_keys_fault *fault)
{
	if (!fault->text[0])
		err(1, "member %u", wc->rank);
	errx(1, "%s (%s)", fault->text, strerror(fault->error));
}

/* Members merge what comes on its way. */
static void count_over_members(struct count *wc, struct shuffle_coll *coll)
{
	struct shuffle_keys_options o = { .size = sizeof(o), .oper = SHUFFLE_KEYS_SUM };
	struct shuffle_key_value *own, *all;
	struct shuffle_keys_fault fault;
	size_t n, all_n;

	own = own_records(wc, &n);
	/* first the words: two with one key must not be summed */
	if (shuffle_reduce_names(coll, wc->names, wc->receiver, &fault) ||
	    shuffle_reduce_by_key(coll, own, n, &all, &all_n, &o, wc->receiver, &fault))
		failed(wc, &fault);
	if (wc->rank == wc->receiver)
		report(wc, all, all_n);
	if (shuffle_coll_free(coll))
		err(1, "not all has arrived");
	free(all);
	free(own);
}

int main(int argc, char **argv)
{
	static struct count wc;
	struct shuffle_coll *coll = NULL;
	struct role *role = NULL;
	uint32_t missing;
	int fd = -1;

	parse(&wc, argc, argv);
	if (wc.roles) {
		role = roles_read(wc.roles, wc.group.count, &wc.receiver);
		if (role[wc.rank].kind == ROLE_RELAY)
			errx(2, "--rank %u is a relay, which needs no program", wc.rank);
		if (role[wc.rank].kind == ROLE_NONE)
			errx(2, "--rank %u takes no part", wc.rank);
	}
	/* with roles keys are made of whole words later */
	wc.names = shuffle_key_names_new(wc.roles ? 64 : wc.bits, 0);
	if (!wc.names)
		err(1, "words");
	if (role) {
		if (!wc.op &&
		    roles_agree(role, &wc.group, wc.rank, agree_ms(&wc), &wc.op, &missing)) {
			no_family();
			err(1, "member %u: nothing comes",
			    missing == ROLE_NOBODY ? wc.rank : missing);
		}
		relays_open(&wc, role);
	} else {
		fd = join(&wc);
		coll = collectives(&wc, fd);
	}
	count_files(&wc, argv + optind);
	if (role)
		count_over_relays(&wc, role);
	else
		count_over_members(&wc, coll);
	if (fd >= 0)
		close(fd);
	free(role);
	shuffle_key_names_free(wc.names);
	return 0;
}
