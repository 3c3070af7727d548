/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long data may be overdue before its sender is asked what has left.
 *
 * A question and its answer are two packets without payload: a wrong guess costs little, so it may
 * be much shorter than the time limit after which data is sent again.
 *
 * Portable: see portable.h.
 */
#ifndef _SHUFFLE_EARLY_H
#define _SHUFFLE_EARLY_H

#include "portable.h"

/* Of the least time limit for data to be sent again: a question leaves no sooner. */
#define SHUFFLE_EARLY_PART	8

/* An answer takes less than data does: of the time that data may be overdue. */
#define SHUFFLE_EARLY_AGAIN	4

/* Questions about a message between two signs of progress, before the time limit */
#define SHUFFLE_EARLY_QUESTIONS	4

/* Time limits after which a sender that is silent is asked, before data is asked for */
#define SHUFFLE_LATE_QUESTIONS	4

/**
 * shuffle_early_wait() - how long data may be overdue
 * @srtt: smoothed time from a grant to its data, ns; not 0
 * @rttvar: mean deviation of @srtt, ns
 * @least: least time limit for data to be sent again, ns
 *
 * Return: ns.
 */
static inline u64 shuffle_early_wait(u64 srtt, u64 rttvar, u64 least)
{
	u64 wait = srtt + 2 * rttvar;

	return wait > least / SHUFFLE_EARLY_PART ? wait : least / SHUFFLE_EARLY_PART;
}

/**
 * shuffle_early_pause() - how long the next packet may be overdue where packets take turns
 * @pause: what this function returned last, ns; 0 at first
 * @ns: time between the last two packets of a message that was waited for
 *
 * The time from a grant to its data says nothing of the packets behind the first one.  Most pauses
 * are short, and some are ten times as long: their mean and its deviation follow the last few.  So
 * this rises by a quarter of what it was too short by and falls by 1/4096: of 1000 pauses ten are
 * longer.
 *
 * Return: ns.
 */
static inline u64 shuffle_early_pause(u64 pause, u64 ns)
{
	return ns > pause ? pause + (ns - pause) / 4 : pause - pause / 4096;
}

/**
 * shuffle_early_again() - how long an answer, or what was asked for because of one, may take
 * @wait: shuffle_early_wait()
 * @least: @least of shuffle_early_wait()
 * @questions: number of questions that have left since there was progress, 1 to 31
 *
 * Return: ns.
 */
static inline u64 shuffle_early_again(u64 wait, u64 least, u32 questions)
{
	u64 again = wait / SHUFFLE_EARLY_AGAIN;

	if (again < least / SHUFFLE_EARLY_PART)
		again = least / SHUFFLE_EARLY_PART;
	return again << (questions - 1);
}

#endif /* _SHUFFLE_EARLY_H */
