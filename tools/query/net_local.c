// SPDX-License-Identifier: GPL-2.0-or-later
/* A query's hosts as threads of one process: nothing is sent, the plan is the same. */
#include <err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "net.h"

struct local;

struct local_net {
	struct net net;
	struct local *all;
	pthread_t thread;
};

struct local {
	unsigned int count;
	pthread_barrier_t barrier;
	struct local_net *host;
	const void *const **bufs;	/* of each host, while all are in the same call */
	const uint64_t **lens;
	void **buf;
	void (*run)(void *arg, struct net *net);
	void *arg;
};

static struct local *all_of(struct net *net)
{
	return ((struct local_net *)net)->all;
}

static void meet(struct local *all)
{
	pthread_barrier_wait(&all->barrier);
}

static void local_exchange(struct net *net, const void *const *bufs, const uint64_t *lens,
			   struct inbox *in)
{
	struct local *all = all_of(net);
	unsigned int i;

	all->bufs[net->rank] = bufs;
	all->lens[net->rank] = lens;
	meet(all);
	in->count = net->count;
	in->bufs = xcalloc(net->count, sizeof(*in->bufs));
	in->lens = xcalloc(net->count, sizeof(*in->lens));
	for (i = 0; i < net->count; i++) {
		in->lens[i] = all->lens[i][net->rank];
		in->bufs[i] = xrealloc(NULL, in->lens[i], 1);
		if (in->lens[i])
			memcpy(in->bufs[i], all->bufs[i][net->rank], in->lens[i]);
	}
	meet(all);
}

static void local_release(struct net *net, struct inbox *in)
{
	unsigned int i;

	for (i = 0; in->bufs && i < net->count; i++)
		free(in->bufs[i]);
	free(in->bufs);
	free(in->lens);
	memset(in, 0, sizeof(*in));
}

static void local_reduce(struct net *net, void *buf, size_t size, shuffle_combine combine,
			 void *arg)
{
	struct local *all = all_of(net);
	unsigned int i;

	all->buf[net->rank] = buf;
	meet(all);
	for (i = 1; !net->rank && i < net->count; i++)
		combine(arg, buf, all->buf[i], size, 0);
	meet(all);
}

static void local_broadcast(struct net *net, void *buf, size_t size)
{
	struct local *all = all_of(net);

	all->buf[net->rank] = buf;
	meet(all);
	if (net->rank)
		memcpy(buf, all->buf[0], size);
	meet(all);
}

static void local_allreduce(struct net *net, void *buf, size_t size, shuffle_combine combine,
			    void *arg)
{
	local_reduce(net, buf, size, combine, arg);
	local_broadcast(net, buf, size);
}

static void local_gather(struct net *net, const void *from, void *to, size_t size)
{
	struct local *all = all_of(net);
	unsigned int i;

	all->lens[net->rank] = from;
	meet(all);
	for (i = 0; !net->rank && i < net->count; i++)
		memcpy((char *)to + i * size, all->lens[i], size);
	meet(all);
}

static void *local_thread(void *arg)
{
	struct local_net *host = arg;

	host->all->run(host->all->arg, &host->net);
	return NULL;
}

/**
 * net_local_run - run hosts as threads until all have returned
 * @count: number of hosts
 * @run: what each does
 * @arg: of @run
 */
void net_local_run(unsigned int count, void (*run)(void *arg, struct net *net), void *arg)
{
	struct local all = { .count = count, .run = run, .arg = arg };
	unsigned int i;
	int error;

	all.host = xcalloc(count, sizeof(*all.host));
	all.bufs = xcalloc(count, sizeof(*all.bufs));
	all.lens = xcalloc(count, sizeof(*all.lens));
	all.buf = xcalloc(count, sizeof(*all.buf));
	error = pthread_barrier_init(&all.barrier, NULL, count);
	for (i = 0; !error && i < count; i++) {
		all.host[i].all = &all;
		all.host[i].net = (struct net){
			.rank = i,
			.count = count,
			.exchange = local_exchange,
			.release = local_release,
			.reduce = local_reduce,
			.allreduce = local_allreduce,
			.broadcast = local_broadcast,
			.gather = local_gather,
		};
		error = pthread_create(&all.host[i].thread, NULL, local_thread, &all.host[i]);
	}
	if (error)
		errx(1, "%u threads: %s", count, strerror(error));
	for (i = 0; i < count; i++)
		pthread_join(all.host[i].thread, NULL);
	pthread_barrier_destroy(&all.barrier);
	free(all.host);
	free(all.bufs);
	free(all.lens);
	free(all.buf);
}
