// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-workload sweep: matrices for the whole range of skewness.  Matrix i of
 * an interval is a function of the seed and i alone: threads only share the work.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"

#define MAX_THREADS	64
#define MAX_BUCKETS	1000
#define MAX_KINDS	3

static const char sweep_help[] =
"usage: shuffle-workload sweep -n HOSTS [OPTIONS]\n"
"\n"
"Make matrices for every interval of skewness, check them and count.\n"
"\n"
"  -n, --hosts N        number of hosts, 2 to 4096\n"
"  -K, --kinds LIST     of sort, general and lognormal; sort,general\n"
"  -p, --per-bucket P   matrices of each kind in each interval, 100\n"
"  -b, --buckets B      number of intervals from 0 to 1, 20\n"
"  -s, --size SIZE      mean length of a message, 24k\n"
"  -S, --seed SEED      of the random numbers, 1\n"
"      --no-self        without messages to oneself\n"
"  -t, --threads T      as many as processors\n"
"  -f, --format FORMAT  of the files: csv, binary or trace; binary\n"
"  -o, --output DIR     write the matrices: DIR/KIND-INTERVAL-INDEX.FORMAT\n"
"  -j, --json           the table as JSON\n"
"  -q, --quiet          no progress\n";

/**
 * struct outcome - what became of one matrix
 * @skewness: of the matrix
 * @checksum: of the matrix
 * @made: whether there is one with the right skewness and sums
 * @attempts: see &struct wl_made
 * @nudged: see &struct wl_made
 */
struct outcome {
	double skewness;
	uint64_t checksum;
	bool made;
	unsigned int attempts;
	bool nudged;
};

/**
 * struct sweep - one run
 * @spec: of the matrices; the kind and the interval differ
 * @kind: kinds
 * @kinds: how many
 * @buckets: intervals
 * @per: matrices of a kind in an interval
 * @tasks: all of them
 * @next: first one that no thread has taken
 * @done: how many are finished
 * @failed: one of them could not be made or written
 * @outcome: of all
 * @output: folder, or NULL
 * @format: of the files
 * @lock: guards @err
 * @err: the first failure
 */
struct sweep {
	struct wl_spec spec;
	enum wl_kind kind[MAX_KINDS];
	unsigned int kinds;
	unsigned int buckets, per;
	size_t tasks;
	atomic_size_t next, done;
	atomic_bool failed;
	struct outcome *outcome;
	const char *output;
	enum matrix_format format;
	pthread_mutex_t lock;
	struct wl_error err;
};

/* Skewness within the interval, all sums equal. */
static bool matrix_is_right(const struct sweep *s, const struct matrix *m, unsigned int bucket,
			    double skewness)
{
	uint64_t row = s->spec.mean * (s->spec.self ? m->n : m->n - 1);
	unsigned int i, j;

	for (i = 0; i < m->n; i++) {
		uint64_t out = 0, in = 0;

		for (j = 0; j < m->n; j++) {
			out += matrix_len(m, i, j);
			in += matrix_len(m, j, i);
		}
		if (out != row || in != row || (!s->spec.self && matrix_len(m, i, i)))
			return false;
	}
	return skewness >= (double)bucket / s->buckets &&
	       (bucket + 1 == s->buckets || skewness < (bucket + 1.0) / s->buckets);
}

/* Without messages to oneself a skewness of 1 / (n - 1) is the least. */
static bool bucket_is_possible(const struct sweep *s, unsigned int bucket)
{
	return s->spec.self || bucket + 1 == s->buckets ||
	       (uint64_t)(bucket + 1) * (s->spec.n - 1) > s->buckets;
}

static void sweep_fail(struct sweep *s, const struct wl_error *err)
{
	pthread_mutex_lock(&s->lock);
	if (!s->failed)
		s->err = *err;
	s->failed = true;
	pthread_mutex_unlock(&s->lock);
}

static void sweep_task(struct sweep *s, size_t task)
{
	static const char *const ends[] = { "csv", "binary", "trace" };
	unsigned int index = task % s->per, bucket = task / s->per % s->buckets;
	unsigned int kind = task / s->per / s->buckets;
	struct outcome *o = &s->outcome[task];
	struct wl_spec spec = s->spec;
	struct wl_error err;
	struct wl_made made;
	struct matrix *m;

	if (!bucket_is_possible(s, bucket))
		return;
	spec.kind = s->kind[kind];
	m = wl_of_skewness(&spec, bucket, s->buckets, index, &made, &err);
	if (!m) {
		sweep_fail(s, &err);
		return;
	}
	o->skewness = matrix_skewness(m);
	o->checksum = matrix_checksum(m);
	o->attempts = made.attempts;
	o->nudged = made.nudged;
	o->made = matrix_is_right(s, m, bucket, o->skewness);
	if (s->output) {
		char path[4096], comment[192];

		snprintf(path, sizeof(path), "%.4000s/%s-%03u-%05u.%s", s->output,
			 wl_kind_name(spec.kind), bucket, index, ends[s->format]);
		snprintf(comment, sizeof(comment), "%s, %u hosts: %s; skewness %.6f",
			 wl_kind_name(spec.kind), spec.n, made.how, o->skewness);
		if (matrix_write_file(m, path, s->format, comment, &err))
			sweep_fail(s, &err);
	}
	matrix_free(m);
}

static void *sweep_thread(void *arg)
{
	struct sweep *s = arg;
	size_t task;

	while (!s->failed && (task = atomic_fetch_add(&s->next, 1)) < s->tasks) {
		sweep_task(s, task);
		atomic_fetch_add(&s->done, 1);
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* On a terminal one line that changes, elsewhere a line now and then. */
static void sweep_watch(struct sweep *s, bool quiet)
{
	bool terminal = isatty(2);
	double begin = now(), told = begin;
	size_t done;

	while ((done = s->done) < s->tasks && !s->failed) {
		double at = now(), left;

		if (!quiet && done && at - told >= (terminal ? 0.5 : 5)) {
			left = (at - begin) * (s->tasks - done) / done;
			fprintf(stderr, "%s%zu of %zu matrices, %.0f s, %.0f s left%s",
				terminal ? "\r" : "", done, s->tasks, at - begin, left,
				terminal ? "   " : "\n");
			told = at;
		}
		usleep(20000);
	}
	if (!quiet && terminal && told > begin)
		fputs("\r\033[K", stderr);
}

/* The table; whether every interval has what it should. */
static bool sweep_report(const struct sweep *s, bool json, double seconds)
{
	static const char text_row[] = "%s%-10s %.4f to %.4f %8u %9.6f %9.6f %9.2f %7u\n";
	static const char json_row[] =
		"%s{\"kind\": \"%s\", \"lo\": %.4g, \"hi\": %.4g, \"matrices\": %u, \"lowest\": %.6f, "
		"\"highest\": %.6f, \"attempts\": %.2f, \"nudged\": %u}";
	uint64_t checksum = 0xcbf29ce484222325ULL;
	size_t all = 0, nudged_all = 0, task = 0;
	unsigned int k, b, i, any = 0;
	bool right = true;

	if (json)
		printf("{\"hosts\": %u, \"seed\": %llu, \"intervals\": [\n", s->spec.n,
		       (unsigned long long)s->spec.seed);
	else
		printf("%-10s %-16s %8s %9s %9s %9s %7s\n", "kind", "skewness", "matrices",
		       "lowest", "highest", "attempts", "nudged");
	for (k = 0; k < s->kinds; k++) {
		for (b = 0; b < s->buckets; b++) {
			unsigned int count = 0, attempts = 0, nudged = 0;
			double lowest = 2, highest = -1;

			if (!bucket_is_possible(s, b)) {
				task += s->per;
				continue;
			}
			for (i = 0; i < s->per; i++, task++) {
				const struct outcome *o = &s->outcome[task];

				count += o->made;
				attempts += o->attempts;
				nudged += o->nudged;
				lowest = o->skewness < lowest ? o->skewness : lowest;
				highest = o->skewness > highest ? o->skewness : highest;
				checksum = (checksum ^ o->checksum) * 0x100000001b3ULL;
			}
			right &= count == s->per;
			all += count;
			nudged_all += nudged;
			printf(json ? json_row : text_row, json && any++ ? ",\n" : "",
			       wl_kind_name(s->kind[k]), (double)b / s->buckets,
			       (b + 1.0) / s->buckets, count, lowest, highest,
			       (double)attempts / s->per, nudged);
		}
	}
	if (json)
		printf("\n], \"matrices\": %zu, \"nudged\": %zu, \"seconds\": %.2f, \"checksum\": \"%016llx\"}\n",
		       all, nudged_all, seconds, (unsigned long long)checksum);
	else
		printf("%zu matrices in %.1f s, %zu nudged, checksum %016llx\n", all, seconds,
		       nudged_all, (unsigned long long)checksum);
	return right;
}

static void arg_kinds(char *list, struct sweep *s)
{
	char *save = NULL, *word;
	unsigned int i;

	s->kinds = 0;
	for (word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		enum wl_kind kind;

		if (wl_kind_parse(word, &kind) ||
		    (kind != WL_SORT && kind != WL_GENERAL && kind != WL_LOGNORMAL))
			die(EXIT_USAGE, "kind '%s': there are sort, general and lognormal", word);
		for (i = 0; i < s->kinds; i++)
			if (s->kind[i] == kind)
				die(EXIT_USAGE, "kind '%s': twice", word);
		s->kind[s->kinds++] = kind;
	}
	if (!s->kinds)
		die(EXIT_USAGE, "no kinds");
}

static void sweep_run(struct sweep *s, unsigned int threads, bool quiet)
{
	pthread_t thread[MAX_THREADS];
	unsigned int i;
	int error;

	for (i = 0; i < threads; i++) {
		error = pthread_create(&thread[i], NULL, sweep_thread, s);
		if (error && !i)
			die(EXIT_TROUBLE, "cannot start a thread: %s", strerror(error));
		if (error)
			break;
	}
	threads = i;
	sweep_watch(s, quiet);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	if (s->failed)
		die(EXIT_TROUBLE, "%s", s->err.text);
}

/**
 * cmd_sweep - matrices for the whole range of skewness
 * @argc: of the command
 * @argv: of the command
 *
 * Return: exit status, EXIT_TROUBLE if an interval is not covered.
 */
int cmd_sweep(int argc, char **argv)
{
	enum { OPT_NO_SELF = 256 };
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "hosts", required_argument, NULL, 'n' },
		{ "kinds", required_argument, NULL, 'K' },
		{ "per-bucket", required_argument, NULL, 'p' },
		{ "buckets", required_argument, NULL, 'b' },
		{ "size", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "no-self", no_argument, NULL, OPT_NO_SELF },
		{ "threads", required_argument, NULL, 't' },
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ 0 }
	};
	struct sweep s = {
		.kind = { WL_SORT, WL_GENERAL }, .kinds = 2, .buckets = 20, .per = 100,
		.format = MATRIX_BINARY, .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	long threads = sysconf(_SC_NPROCESSORS_ONLN);
	bool json = false, quiet = false, right;
	struct wl_cdfs *cdfs;
	struct wl_error err;
	double begin;
	int c;

	wl_spec_init(&s.spec, WL_SORT, 0);
	while ((c = getopt_long(argc, argv, "hn:K:p:b:s:S:t:f:o:jq", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(sweep_help, stdout);
			return 0;
		case 'n':
			s.spec.n = arg_number(optarg, MATRIX_MAX_HOSTS, "hosts");
			break;
		case 'K':
			arg_kinds(optarg, &s);
			break;
		case 'p':
			s.per = arg_number(optarg, 100000, "matrices in an interval");
			break;
		case 'b':
			s.buckets = arg_number(optarg, MAX_BUCKETS, "intervals");
			break;
		case 's':
			if (wl_size_parse(optarg, &s.spec.mean))
				die(EXIT_USAGE, "size '%s': bytes, or with k or m", optarg);
			break;
		case 'S':
			s.spec.seed = arg_number(optarg, UINT64_MAX, "seed");
			break;
		case OPT_NO_SELF:
			s.spec.self = false;
			break;
		case 't':
			threads = arg_number(optarg, MAX_THREADS, "threads");
			if (!threads)
				die(EXIT_USAGE, "threads '0': one is needed");
			break;
		case 'f':
			s.format = arg_format(optarg);
			break;
		case 'o':
			s.output = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'q':
			quiet = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "sweep: what is '%s'?", argv[optind]);
	if (!s.spec.n)
		die(EXIT_USAGE, "sweep: how many hosts? Give -n");
	if (!s.per || !s.buckets)
		die(EXIT_USAGE, "sweep: at least one matrix and one interval");
	if (s.output && mkdir(s.output, 0777) && errno != EEXIST)
		die(EXIT_TROUBLE, "%s: %s", s.output, strerror(errno));
	begin = now();
	cdfs = wl_cdfs_new(s.spec.n, s.spec.seed, &err);
	s.spec.cdfs = cdfs;
	s.tasks = (size_t)s.kinds * s.buckets * s.per;
	s.outcome = calloc(s.tasks, sizeof(*s.outcome));
	if (!cdfs || !s.outcome)
		die(EXIT_TROUBLE, "%s", cdfs ? "out of memory" : err.text);
	threads = threads < 1 ? 1 : threads;
	sweep_run(&s, threads < MAX_THREADS ? threads : MAX_THREADS, quiet);
	right = sweep_report(&s, json, now() - begin);
	free(s.outcome);
	wl_cdfs_free(cdfs);
	return right ? 0 : EXIT_TROUBLE;
}
