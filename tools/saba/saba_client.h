/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applications and shuffle-sabad: register, say which connections there are, and have
 * sockets marked so that the network knows whose packets they send.
 *
 * Not safe for several threads at a time.
 */
#ifndef SABA_CLIENT_H
#define SABA_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define SABA_SOCKET	"/run/shuffle/saba.sock"
#define SABA_DAEMONS	8	/* the most that an application talks to */

struct saba;

struct saba *saba_app_new(const char *paths, const char *app);
struct saba *saba_app_register(const char *paths, const char *app, char *why, size_t size);
const char *saba_why(const struct saba *s);
bool saba_agree(const struct saba *s);
int saba_level(const struct saba *s);
int saba_dscp(const struct saba *s);
int saba_fd(const struct saba *s);
int saba_poll(struct saba *s);
int saba_conn_create(struct saba *s, const struct sockaddr *to, int fd);
int saba_conn_destroy(struct saba *s, int conn);
void saba_app_deregister(struct saba *s);

int saba_mark(int fd, int dscp);
int saba_open(const char *path);
int saba_request(int fd, const char *text, int (*line)(char *text, void *arg), void *arg);

#endif /* SABA_CLIENT_H */
