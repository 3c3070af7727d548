// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that answers ECHOs, as fast as a program with a plain UDP socket can: what the module's
 * reflector is measured beside (echo.sh).
 *
 * usage: echo_program PORT	until it is killed
 */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define ECHO		0x35	/* version 3, type 5 */
#define FLAG_REPLY	0x01
#define RX_NS		28
#define TX_NS		36
#define ECHO_BYTES	44

static void put_time(uint8_t *p)
{
	struct timespec t;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &t);
	ns = htobe64((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
	memcpy(p, &ns, sizeof(ns));
}

int main(int argc, char **argv)
{
	struct sockaddr_in me = { .sin_family = AF_INET }, from;
	static uint8_t packet[65536];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(from);
	ssize_t got;

	me.sin_port = htons((uint16_t)(argc == 2 ? atoi(argv[1]) : 0));
	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof(me))) {
		perror("echo_program");
		return EXIT_FAILURE;
	}
	while ((got = recvfrom(fd, packet, sizeof(packet), 0,
			       (struct sockaddr *)&from, &len)) >= 0) {
		if (got < ECHO_BYTES || packet[0] != ECHO || packet[1] & FLAG_REPLY)
			continue;
		packet[1] |= FLAG_REPLY;
		put_time(packet + RX_NS);
		put_time(packet + TX_NS);
		if (sendto(fd, packet, (size_t)got, 0, (struct sockaddr *)&from, len) < 0)
			perror("echo_program");
	}
	perror("echo_program");
	return EXIT_FAILURE;
}
