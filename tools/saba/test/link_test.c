// SPDX-License-Identifier: BSD-3-Clause
/*
 * An application that has nothing but what is installed: all of saba_client.h, and no daemon.
 *
 * usage: link_test	with SHUFFLE_SABA_SOCKET where nobody listens
 */
#include <errno.h>
#include <saba_client.h>
#include <stdio.h>
#include <string.h>

static int line(char *text, void *arg)
{
	(void)text;
	(void)arg;
	return 0;
}

int main(void)
{
	char why[100] = "";
	struct saba *s;
	int conn, bad;

	if (saba_app_register(NULL, "LR", why, sizeof(why)) || !why[0])
		return 1;
	s = saba_app_new(NULL, "LR");
	if (!s || saba_poll(s) >= 0 || saba_level(s) || saba_dscp(s) || saba_fd(s) < 0)
		return 2;
	conn = saba_conn_create(s, NULL, -1);
	bad = conn < 0 || saba_conn_destroy(s, conn) || saba_conn_destroy(s, conn) != -EINVAL;
	bad |= !saba_agree(s) || strlen(saba_why(s)) || saba_mark(-1, 33) != -EBADF;
	bad |= saba_open(NULL) >= 0 || saba_request(-1, "show", line, NULL) != -EBADF;
	saba_app_deregister(s);
	if (bad)
		return 3;
	printf("%s\n", why);
	return 0;
}
