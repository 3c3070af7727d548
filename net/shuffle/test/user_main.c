// SPDX-License-Identifier: GPL-2.0-only
/* Runs the suites in user space and prints TAP. */
#include "harness.h"

static struct kunit_suite *const suites[] = {
	&shuffle_number_suite,
	&shuffle_rate_suite,
	&shuffle_early_suite,
	&shuffle_cross_traffic_suite,
	&shuffle_wire_suite,
	&shuffle_wire_next_suite,
	&shuffle_tag_suite,
	&shuffle_ranges_suite,
	&shuffle_heap_suite,
	&shuffle_link_suite,
	&shuffle_order_suite,
	&shuffle_policy_tx_suite,
	&shuffle_policy_rx_suite,
	&shuffle_policy_grant_suite,
	&shuffle_budget_suite,
	&shuffle_sim_suite,
	&shuffle_plan_suite,
	&shuffle_two_tree_suite,
	&shuffle_table_suite,
	&shuffle_blocks_suite,
	&shuffle_steps_suite,
	&shuffle_coll_suite,
	&shuffle_merge_suite,
};

static unsigned int done;
static unsigned int bad;

void user_fail(struct kunit *test, const char *file, int line, const char *what)
{
	/* one failure in a loop is as good as thousands */
	if (!test->failed)
		printf("# %s:%d: %s\n", file, line, what);
	test->failed = true;
}

void user_fail_values(struct kunit *test, const char *file, int line,
		      const char *what, unsigned long long a, unsigned long long b)
{
	char text[512];

	snprintf(text, sizeof(text), "expected %s, got %llu (%#llx) and %llu (%#llx)",
		 what, a, a, b, b);
	user_fail(test, file, line, text);
}

void *kunit_kcalloc(struct kunit *test, size_t n, size_t size, int gfp)
{
	struct user_mem *m = malloc(sizeof(*m));

	(void)gfp;
	if (!m)
		abort();
	m->p = calloc(n ? n : 1, size);
	if (!m->p)
		abort();
	m->next = test->mem;
	test->mem = m;
	return m->p;
}

static void run(const struct kunit_case *c, const void *param, const char *desc)
{
	struct kunit test = { .param_value = param };

	if (!setjmp(test.abort))
		c->run_case(&test);
	while (test.mem) {
		struct user_mem *m = test.mem;

		test.mem = m->next;
		free(m->p);
		free(m);
	}
	bad += test.failed;
	printf("%sok %u - %s%s%s\n", test.failed ? "not " : "", ++done, c->name,
	       *desc ? ": " : "", desc);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	size_t i;

	/* a name runs the cases that contain it */
	for (i = 0; i < ARRAY_SIZE(suites); i++) {
		const struct kunit_case *c;

		printf("# %s\n", suites[i]->name);
		for (c = suites[i]->test_cases; c->run_case; c++) {
			char desc[KUNIT_PARAM_DESC_SIZE] = "";
			const void *p = NULL;

			if (argc > 1 && !strstr(c->name, argv[1]))
				continue;
			if (!c->generate_params) {
				run(c, NULL, desc);
				continue;
			}
			while ((p = c->generate_params(p, desc)))
				run(c, p, desc);
		}
	}
	printf("1..%u\n", done);
	return bad ? 1 : 0;
}
