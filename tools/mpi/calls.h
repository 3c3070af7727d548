/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives beside all-to-all, one line each.  COLL_SHUFFLE_EACH(CALL) is
 *
 *   CALL(name, MPI's name, parameters, what they set of struct coll_shuffle_args, arguments)
 *
 * where each of the last three ends with a comma, if there is anything: a barrier has nothing.
 */
#ifndef COLL_SHUFFLE_CALLS_H
#define COLL_SHUFFLE_CALLS_H

#define COLL_SHUFFLE_NOTHING
#define COLL_SHUFFLE_SET_NOTHING	.root = 0,
#define COLL_SHUFFLE_GIVE_NOTHING

#define COLL_SHUFFLE_BROADCAST							\
	void *rbuf, coll_shuffle_count rcount, MPI_Datatype rtype, int root,
#define COLL_SHUFFLE_SET_BROADCAST						\
	.rbuf = rbuf, .rcount = rcount, .rtype = rtype, .root = root,
#define COLL_SHUFFLE_GIVE_BROADCAST	rbuf, rcount, rtype, root,

#define COLL_SHUFFLE_ROOT		int root,
#define COLL_SHUFFLE_SET_ROOT		.root = root,
#define COLL_SHUFFLE_GIVE_ROOT		root,

#define COLL_SHUFFLE_MOVED							\
	const void *sbuf, coll_shuffle_count scount, MPI_Datatype stype, void *rbuf,	\
	coll_shuffle_count rcount, MPI_Datatype rtype,
#define COLL_SHUFFLE_SET_MOVED							\
	.sbuf = sbuf, .scount = scount, .stype = stype, .rbuf = rbuf,		\
	.rcount = rcount, .rtype = rtype,
#define COLL_SHUFFLE_GIVE_MOVED		sbuf, scount, stype, rbuf, rcount, rtype,

#define COLL_SHUFFLE_GATHERED							\
	const void *sbuf, coll_shuffle_count scount, MPI_Datatype stype, void *rbuf,		\
	coll_shuffle_counts counts, coll_shuffle_disps disps, MPI_Datatype rtype,
#define COLL_SHUFFLE_SET_GATHERED						\
	.sbuf = sbuf, .scount = scount, .stype = stype, .rbuf = rbuf,		\
	.counts = counts, .disps = disps, .rtype = rtype,
#define COLL_SHUFFLE_GIVE_GATHERED	sbuf, scount, stype, rbuf, counts, disps, rtype,

#define COLL_SHUFFLE_SCATTERED							\
	const void *sbuf, coll_shuffle_counts counts, coll_shuffle_disps disps,		\
	MPI_Datatype stype, void *rbuf, coll_shuffle_count rcount, MPI_Datatype rtype,
#define COLL_SHUFFLE_SET_SCATTERED						\
	.sbuf = sbuf, .counts = counts, .disps = disps, .stype = stype,		\
	.rbuf = rbuf, .rcount = rcount, .rtype = rtype,
#define COLL_SHUFFLE_GIVE_SCATTERED	sbuf, counts, disps, stype, rbuf, rcount, rtype,

#define COLL_SHUFFLE_COMBINED							\
	const void *sbuf, void *rbuf, coll_shuffle_count rcount, MPI_Datatype rtype, MPI_Op op,
#define COLL_SHUFFLE_SET_COMBINED						\
	.sbuf = sbuf, .rbuf = rbuf, .rcount = rcount, .rtype = rtype, .op = op,
#define COLL_SHUFFLE_GIVE_COMBINED	sbuf, rbuf, rcount, rtype, op,

#define COLL_SHUFFLE_PARTS							\
	const void *sbuf, void *rbuf, coll_shuffle_counts counts, MPI_Datatype rtype, MPI_Op op,
#define COLL_SHUFFLE_SET_PARTS							\
	.sbuf = sbuf, .rbuf = rbuf, .counts = counts, .rtype = rtype, .op = op,
#define COLL_SHUFFLE_GIVE_PARTS		sbuf, rbuf, counts, rtype, op,

#define COLL_SHUFFLE_LINE(CALL, name, mpi, kind)				\
	CALL(name, mpi, COLL_SHUFFLE_##kind, COLL_SHUFFLE_SET_##kind,		\
	     COLL_SHUFFLE_GIVE_##kind)
#define COLL_SHUFFLE_ROOTED(CALL, name, mpi, kind)				\
	CALL(name, mpi, COLL_SHUFFLE_##kind COLL_SHUFFLE_ROOT,			\
	     COLL_SHUFFLE_SET_##kind COLL_SHUFFLE_SET_ROOT,			\
	     COLL_SHUFFLE_GIVE_##kind COLL_SHUFFLE_GIVE_ROOT)

#define COLL_SHUFFLE_EACH(CALL)							\
	COLL_SHUFFLE_LINE(CALL, barrier, Barrier, NOTHING)			\
	COLL_SHUFFLE_LINE(CALL, bcast, Bcast, BROADCAST)			\
	COLL_SHUFFLE_ROOTED(CALL, gather, Gather, MOVED)			\
	COLL_SHUFFLE_ROOTED(CALL, scatter, Scatter, MOVED)			\
	COLL_SHUFFLE_LINE(CALL, allgather, Allgather, MOVED)			\
	COLL_SHUFFLE_ROOTED(CALL, reduce, Reduce, COMBINED)			\
	COLL_SHUFFLE_LINE(CALL, allreduce, Allreduce, COMBINED)			\
	COLL_SHUFFLE_LINE(CALL, reduce_scatter_block, Reduce_scatter_block, COMBINED)	\
	COLL_SHUFFLE_LINE(CALL, scan, Scan, COMBINED)				\
	COLL_SHUFFLE_LINE(CALL, exscan, Exscan, COMBINED)			\
	COLL_SHUFFLE_ROOTED(CALL, gatherv, Gatherv, GATHERED)			\
	COLL_SHUFFLE_ROOTED(CALL, scatterv, Scatterv, SCATTERED)		\
	COLL_SHUFFLE_LINE(CALL, allgatherv, Allgatherv, GATHERED)		\
	COLL_SHUFFLE_LINE(CALL, reduce_scatter, Reduce_scatter, PARTS)

#endif /* COLL_SHUFFLE_CALLS_H */
