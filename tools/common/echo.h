/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions for echoes (protocol.rst, "Echo"), their answers and their time stamps.
 *
 * The socket is a UDP socket on a privileged port of the protocol; the module's reflector on the
 * other host answers.  Four times belong to a question, ns of CLOCK_REALTIME of the host that
 * took them:
 *
 *	t1	transmit time stamp here, behind the qdisc, or of the NIC
 *	t2, t3	receive and transmit times there
 *	t4	receive time stamp here, before the network stack, or of the NIC
 *
 * Round trip of the network: (t4 - t1) - (t3 - t2).
 */
#ifndef SHUFFLE_COMMON_ECHO_H
#define SHUFFLE_COMMON_ECHO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <netinet/in.h>

#define ECHO_PORT	818U	/* of the module, unless the setting "port" is another */
#define ECHO_SIZE_MIN	44U	/* bytes of UDP payload: a question without padding */
#define ECHO_SIZE_MAX	65507U

/**
 * struct echo_options - how questions leave
 * @source: address, or NULL
 * @dev: device, or NULL
 * @port: UDP port of the module
 * @dscp: 0 to 63
 * @priority: skb->priority; -1: what the DSCP makes of it
 * @hardware: time stamps of the NIC
 */
struct echo_options {
	const char	*source;
	const char	*dev;
	unsigned int	port;
	unsigned int	dscp;
	int		priority;
	bool		hardware;
};

/**
 * struct echo_sock - asks one host
 * @fd: the socket, connected
 * @nonce: that answers must have
 * @hardware: time stamps of the NIC are asked for
 */
struct echo_sock {
	int		fd;
	uint64_t	nonce;
	bool		hardware;
};

enum echo_event {
	ECHO_NOTHING,		/* nothing is waiting */
	ECHO_ANSWER,		/* an answer: seq, size, t2, t3, t4 */
	ECHO_SENT,		/* a question has left: seq (32 bits of it), t1 */
	ECHO_REFUSED,		/* ICMP says that nobody listens there */
	ECHO_OTHER,		/* something else: not ours */
};

/**
 * struct echo_report - what has happened to a question
 * @seq: its number
 * @size: bytes of UDP payload of the answer
 * @t1: ns, 0: there is no such time stamp
 * @t2: likewise
 * @t3: likewise
 * @t4: likewise
 */
struct echo_report {
	uint64_t	seq;
	uint32_t	size;
	uint64_t	t1;
	uint64_t	t2;
	uint64_t	t3;
	uint64_t	t4;
};

int echo_open(struct echo_sock *s, const char *to, const struct echo_options *opt, char *why,
	      size_t size);
void echo_close(struct echo_sock *s);
bool echo_has_hardware(const char *dev);
void echo_build(const struct echo_sock *s, uint8_t *p, uint64_t seq, uint32_t size, bool brief);
enum echo_event echo_answer(struct echo_sock *s, struct echo_report *r);
enum echo_event echo_stamp(struct echo_sock *s, struct echo_report *r);

#endif /* SHUFFLE_COMMON_ECHO_H */
