// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The steps of a sort (tools/sort/net.h) over MPI.  Messages of a step are sent to one rank after
 * the other, beginning with the next one, so that not all send to the same one at first, and
 * received in any order.
 */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"
#include "util.h"

/* Before time counts connections are made, and their windows opened: bytes to each rank, rounds. */
#define WARM_BYTES	16384
#define WARM_ROUNDS	20

static int by_alltoallv;

/**
 * net_name() - a member, for error messages
 * @net: the group
 * @rank: which one
 *
 * Return: text that holds until the next call.
 */
const char *net_name(const struct net *net, unsigned int rank)
{
	static char name[24];

	(void)net;
	snprintf(name, sizeof(name), "MPI rank %u", rank);
	return name;
}

/**
 * net_report() - what a member has said in the roll call
 * @net: the group
 * @rank: which member
 *
 * Return: its report, or NULL before the roll call.
 */
const struct report *net_report(const struct net *net, unsigned int rank)
{
	return net->roll.in[rank];
}

/**
 * net_anybody_left() - never: MPI ends all ranks when one is gone
 * @net: the group
 *
 * Return: 0.
 */
int net_anybody_left(const struct net *net)
{
	(void)net;
	return 0;
}

/**
 * net_begin() - begin a step; then say what is sent and expected, and net_run()
 * @net: the group
 * @op: the step
 * @step: its number
 */
void net_begin(struct net *net, struct net_op *op, unsigned int step)
{
	unsigned int i, n = net->group.count;

	memset(op, 0, sizeof(*op));
	op->net = net;
	op->id = step;
	op->out = memory(n, sizeof(*op->out));
	op->out_len = memory(n, sizeof(*op->out_len));
	op->in = memory(n, sizeof(*op->in));
	op->in_len = memory(n, sizeof(*op->in_len));
	for (i = 0; i < n; i++)
		op->out_len[i] = SHUFFLE_ABSENT;
}

/**
 * net_send() - a message of a step
 * @op: the step
 * @to: its receiver, not this member
 * @buf: its bytes, which stay until net_run() has returned
 * @len: their number
 */
void net_send(struct net_op *op, unsigned int to, const void *buf, uint64_t len)
{
	if (len > INT_MAX)
		die("a message of %llu bytes, MPI takes %d", (unsigned long long)len, INT_MAX);
	op->out[to] = buf;
	op->out_len[to] = len;
	op->net->bytes_out += len;
}

/**
 * net_expect() - a message comes in this step
 * @op: the step
 * @from: from this member, not this one itself
 */
void net_expect(struct net_op *op, unsigned int from)
{
	(void)from;
	op->expected++;
}

static void arrived(struct net_op *op, unsigned int from)
{
	op->net->bytes_in += op->in_len[from];
	op->expected--;
	if (op->whole)
		op->whole(op->arg, from);
}

/* If a message has come that is not being received, begin with it. */
static void receive_next(struct net_op *op, MPI_Request *requests)
{
	MPI_Message message;
	MPI_Status status;
	int found, len;

	MPI_Improbe(MPI_ANY_SOURCE, op->id, MPI_COMM_WORLD, &found, &message, &status);
	if (!found)
		return;
	MPI_Get_count(&status, MPI_BYTE, &len);
	op->in[status.MPI_SOURCE] = memory(len + 1, 1);
	op->in_len[status.MPI_SOURCE] = len;
	MPI_Imrecv(op->in[status.MPI_SOURCE], len, MPI_BYTE, &message,
		   &requests[status.MPI_SOURCE]);
}

/* Requests: of messages from each rank, then of those to each rank. */
static void run_messages(struct net_op *op)
{
	unsigned int n = op->net->group.count, i, to;
	MPI_Request *requests = memory(2 * n, sizeof(MPI_Request));
	int *index = memory(2 * n, sizeof(*index)), done, k;

	for (i = 0; i < 2 * n; i++)
		requests[i] = MPI_REQUEST_NULL;
	for (i = 1; i < n; i++) {
		to = (op->net->rank + i) % n;
		if (op->out_len[to] != SHUFFLE_ABSENT)
			MPI_Isend(op->out[to], op->out_len[to], MPI_BYTE, to, op->id,
				  MPI_COMM_WORLD, &requests[n + to]);
	}
	while (op->expected) {
		receive_next(op, requests);
		MPI_Testsome(2 * n, requests, &done, index, MPI_STATUSES_IGNORE);
		for (k = 0; done != MPI_UNDEFINED && k < done; k++)
			if ((unsigned int)index[k] < n)
				arrived(op, index[k]);
	}
	MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
	free(requests);
	free(index);
}

/* Where each message begins in a row; returns the bytes of the row. */
static int row_begins(const int *lens, int *at, unsigned int n)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		at[i] = sum;
		sum += lens[i];
		if (sum > INT_MAX)
			die("a row of %llu bytes, MPI takes %d", (unsigned long long)sum, INT_MAX);
	}
	return sum;
}

static void run_alltoallv(struct net_op *op)
{
	unsigned int n = op->net->group.count, i;
	int *out_len = memory(n, sizeof(int)), *in_len = memory(n, sizeof(int));
	int *out_at = memory(n, sizeof(int)), *in_at = memory(n, sizeof(int));
	char *row, *column;

	for (i = 0; i < n; i++)
		out_len[i] = op->out_len[i] == SHUFFLE_ABSENT ? 0 : op->out_len[i];
	row = memory(row_begins(out_len, out_at, n), 1);
	for (i = 0; i < n; i++)
		memcpy(row + out_at[i], op->out[i] ? op->out[i] : "", out_len[i]);
	MPI_Alltoall(out_len, 1, MPI_INT, in_len, 1, MPI_INT, MPI_COMM_WORLD);
	column = memory(row_begins(in_len, in_at, n), 1);
	MPI_Alltoallv(row, out_len, out_at, MPI_BYTE, column, in_len, in_at, MPI_BYTE,
		      MPI_COMM_WORLD);
	for (i = 0; i < n; i++) {
		if (i == op->net->rank)
			continue;
		op->in_len[i] = in_len[i];
		op->in[i] = memory(in_len[i] + 1, 1);
		memcpy(op->in[i], column + in_at[i], in_len[i]);
		arrived(op, i);
	}
	free(row);
	free(column);
	free(out_len);
	free(in_len);
	free(out_at);
	free(in_at);
}

/**
 * net_run() - carry a step out; the job ends if that is not possible
 * @op: the step; its @in is what has come
 */
void net_run(struct net_op *op)
{
	unsigned int i, sends = 0, expected = op->expected;
	struct net *net = op->net;

	for (i = 0; i < net->group.count; i++)
		sends += op->out_len[i] != SHUFFLE_ABSENT;
	if (!sends && !expected)
		return;
	net->steps++;
	charge_spend(&net->charge, CHARGE_MESSAGE, sends);
	if (by_alltoallv && op->id == NET_DATA)
		run_alltoallv(op);
	else
		run_messages(op);
	charge_spend(&net->charge, CHARGE_MESSAGE, expected);
}

/**
 * net_sent() - net_run() has waited
 * @op: the step
 */
void net_sent(struct net_op *op)
{
	(void)op;
}

/**
 * net_end() - forget a step and what has come in it
 * @op: the step
 */
void net_end(struct net_op *op)
{
	unsigned int i;

	for (i = 0; i < op->net->group.count; i++)
		free(op->in[i]);
	free(op->out);
	free(op->out_len);
	free(op->in);
	free(op->in_len);
	memset(op, 0, sizeof(*op));
}

/**
 * net_roll_call() - wait until all have sorted
 * @net: the group
 * @own: what the others shall know of us
 */
void net_roll_call(struct net *net, const struct report *own)
{
	unsigned int i, n = net->group.count;
	struct report *all = memory(n, sizeof(*all));

	MPI_Allgather(own, sizeof(*own), MPI_BYTE, all, sizeof(*own), MPI_BYTE, MPI_COMM_WORLD);
	for (i = 0; i < n; i++) {
		net->roll.in[i] = memory(1, sizeof(*all));
		memcpy(net->roll.in[i], &all[i], sizeof(*all));
	}
	free(all);
}

static void abort_job(const char *message)
{
	(void)message;
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/**
 * net_open() - join the group, MPI_COMM_WORLD
 * @net: @group and @rank are set
 * @op: not used
 * @deadline_ms: not used; MPI has none
 */
void net_open(struct net *net, uint64_t op, uint64_t deadline_ms)
{
	const char *data = getenv("MPI_SORT_DATA");
	unsigned int n = net->group.count, i;
	char *row, *column;

	(void)op;
	(void)deadline_ms;
	by_alltoallv = data && !strcmp(data, "alltoallv");
	if (data && !by_alltoallv && strcmp(data, "messages"))
		die("MPI_SORT_DATA: \"%s\" is neither messages nor alltoallv", data);
	net_begin(net, &net->roll, NET_ROLL_CALL);
	die_hook(abort_job);
	row = memory(n, WARM_BYTES);
	column = memory(n, WARM_BYTES);
	for (i = 0; i < WARM_ROUNDS; i++)
		MPI_Alltoall(row, WARM_BYTES, MPI_BYTE, column, WARM_BYTES, MPI_BYTE,
			     MPI_COMM_WORLD);
	free(row);
	free(column);
}

/**
 * net_close() - leave the group
 * @net: the group
 */
void net_close(struct net *net)
{
	die_hook(NULL);
	net_end(&net->roll);
}
