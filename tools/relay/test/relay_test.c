// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of what needs no socket: batches of sorted records, and the words of "relay add". */
#include <arpa/inet.h>
#include <errno.h>

#include "../../lib/tree_merge.h"
#include "../relayd.h"
#include "tap.h"

/* of the library, without the module's number */
int shuffle_addr(struct sockaddr_shuffle *addr, const char *ip, uint16_t port)
{
	memset(addr, 0, sizeof(*addr));
	addr->shs_port = htons(port);
	return inet_pton(strchr(ip, ':') ? AF_INET6 : AF_INET, ip, addr->shs_addr) == 1 ? 0 : -1;
}

static u64 state = 4711;

static u64 draw(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 20;
}

#define RUNS	9
#define MOST	300

static int by_key(const void *a, const void *b)
{
	const struct shuffle_pair *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Runs of random keys against what one pair after the other makes of them. */
static void merge_random(u8 oper, u32 runs, u64 keys)
{
	static struct shuffle_pair all[RUNS * MOST], room[2 * RUNS * MOST];
	static u8 wire[RUNS][MOST * SHUFFLE_PAIR_BYTES];
	struct tree_run run[RUNS];
	struct shuffle_pair *out;
	u32 i, k, n = 0, m = 0, got;

	for (i = 0; i < runs; i++) {
		struct shuffle_pair *own = all + n;
		u32 len = draw() % MOST;

		for (k = 0; k < len; k++) {
			own[k].key = draw() % keys;
			own[k].value = draw();
		}
		qsort(own, len, sizeof(*own), by_key);
		shuffle_merge_store(wire[i], own, len);
		run[i] = (struct tree_run){ wire[i], NULL, len };
		n += len;
	}
	qsort(all, n, sizeof(*all), by_key);
	for (i = 0; i < n; i++) {
		if (m && all[m - 1].key == all[i].key && oper != SHUFFLE_MERGE_NONE)
			all[m - 1].value = shuffle_merge_values(oper, all[m - 1].value,
								all[i].value);
		else
			all[m++] = all[i];
	}
	out = tree_merge_runs(oper, run, runs, room, &got);
	EXPECT_EQ(got, m);
	for (i = 0; out && i < m && i < got; i++) {
		EXPECT_EQ(out[i].key, all[i].key);
		if (oper != SHUFFLE_MERGE_NONE)
			EXPECT_EQ(out[i].value, all[i].value);
	}
}

static void test_merge(void)
{
	u32 runs;
	u8 oper;

	for (oper = 0; oper < SHUFFLE_MERGE_OPERS; oper++) {
		for (runs = 1; runs <= RUNS; runs++) {
			merge_random(oper, runs, 50);
			merge_random(oper, runs, 1ULL << 40);
			merge_random(oper, runs, 1);
		}
		tap_done(relay_oper_name(oper));
	}
}

static void test_unsorted(void)
{
	struct shuffle_pair pair[3] = { { 1, 1 }, { 5, 1 }, { 3, 1 } }, room[16];
	u8 wire[2][3 * SHUFFLE_PAIR_BYTES];
	struct tree_run run[2] = { { wire[0], NULL, 3 }, { wire[1], NULL, 2 } };
	u32 n, at;

	shuffle_merge_store(wire[0], pair, 3);
	shuffle_merge_store(wire[1], pair, 2);
	EXPECT_EQ(tree_run_unsorted(&run[0], 0, false, &at), true);
	EXPECT_EQ(at, 2);
	EXPECT_EQ(tree_run_unsorted(&run[1], 1, true, &at), false);
	EXPECT_EQ(tree_run_unsorted(&run[1], 2, true, &at), true);
	EXPECT_EQ(!tree_merge_runs(SHUFFLE_MERGE_SUM, run, 2, room, &n), true);
	tap_done("a run that is not sorted");
}

static void test_upto(void)
{
	struct shuffle_pair pair[100];
	u8 wire[sizeof(pair)];
	struct tree_run run = { wire, NULL, 100 };
	u32 i;

	for (i = 0; i < 100; i++)
		pair[i] = (struct shuffle_pair){ i / 2 * 10, i };
	shuffle_merge_store(wire, pair, 100);
	for (i = 0; i < 50; i++) {
		EXPECT_EQ(tree_run_upto(&run, 100, i * 10), 2 * i + 2);
		EXPECT_EQ(tree_run_upto(&run, 100, i * 10 + 5), 2 * i + 2);
	}
	EXPECT_EQ(tree_run_upto(&run, 100, 0), 2);
	EXPECT_EQ(tree_run_upto(&run, 0, 7), 0);
	tap_done("records up to a key");
}

/* Words with a blank between them. */
static const char *read_words(struct relay_words *w, const char *line)
{
	static char copy[2000];
	char *word[100], *p;
	unsigned int n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (p = strtok(copy, " "); p && n < 100; p = strtok(NULL, " "))
		word[n++] = p;
	return relay_words_read(w, word, n);
}

static void test_words(void)
{
	static const char *const bad[] = {
		"", "a", "a rank 1 to 0 from 2", "a rank 1 to 0 from 2 members 10.0.0.1",
		"a rank 1 to 0 from 2 members 10.0.0.1:0 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 2 members 10.0.0.1:65536 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 2 members fd00::1:5 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 2 members 10.0.0.1:1 10.0.0.2:1@fd00::1 10.0.0.3:1",
		"a rank -1 to 0 from 2 members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1",
		"a rank 4294967296 to 0 from 2 members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 3 members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 0 members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 2 key 12 members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 2 bytes 1M members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1",
		"a rank 1 to 0 from 2 members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1 oper",
		"a rank 1 to 0 from 2 members 10.0.0.1:1 10.0.0.2:1 10.0.0.3:1 sorted records 7",
		"a-name-that-is-longer-than-thirty-one-bytes rank 1 to 0 from 2 members 10.0.0.1:1",
	};
	struct relay_words *w = malloc(sizeof(*w));
	const char *bad_words;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(!read_words(w, bad[i]), false, "%s", bad[i]);
	tap_done("words that mean nothing");
	bad_words = read_words(w, "a rank 1 to 0 from 2 3 oper max sorted bytes 1000 "
			       "tree 18446744073709551615 idle 5 senders 2 "
			       "key 000102030405060708090a0b0c0d0e0f members 10.0.0.1:1 "
			       "10.0.0.2:2@10.1.0.2 [fd00::3]:3@fd00::2 10.0.0.4:4");
	EXPECT_EQ(!bad_words, true, "%s", bad_words);
	EXPECT_EQ(w->spec.rank, 1);
	EXPECT_EQ(w->spec.parent, 0);
	EXPECT_EQ(w->spec.children, 2);
	EXPECT_EQ(w->r.from[1], 3);
	EXPECT_EQ(w->spec.count, 4);
	EXPECT_EQ(w->spec.oper, SHUFFLE_KEYS_MAX);
	EXPECT_EQ(w->spec.tree, UINT64_MAX);
	EXPECT_EQ(w->spec.max_bytes, 1000);
	EXPECT_EQ(w->spec.idle_ms, 5);
	EXPECT_EQ(w->key[15], 15);
	EXPECT_EQ(w->edge[1].local[1], 1);
	EXPECT_EQ(ntohs(w->edge[2].member.shs_port), 3);
	tap_done("words of a relay");
	free(w);
}

int main(void)
{
	test_merge();
	test_unsorted();
	test_upto();
	test_words();
	return tap_finish();
}
