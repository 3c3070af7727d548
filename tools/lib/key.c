// SPDX-License-Identifier: BSD-3-Clause
/* Group keys from files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* One more than 32 digits and the end of the line. */
#define KEY_TEXT	(2 * SHUFFLE_KEY_BYTES + 2)

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	return at ? at - digits : -1;
}

/* Is what the file has a key? */
static bool key_of(const char *text, ssize_t n, unsigned char *key)
{
	int i, high, low;

	if (n == SHUFFLE_KEY_BYTES) {
		memcpy(key, text, n);
		return true;
	}
	if (n == 2 * SHUFFLE_KEY_BYTES + 1 && text[n - 1] == '\n')
		n--;
	if (n != 2 * SHUFFLE_KEY_BYTES)
		return false;
	for (i = 0; i < SHUFFLE_KEY_BYTES; i++) {
		high = digit(text[2 * i]);
		low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		key[i] = high << 4 | low;
	}
	return true;
}

int shuffle_key_file(const char *path, unsigned char key[SHUFFLE_KEY_BYTES])
{
	/* a FIFO is to be refused, not waited for */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err = 0;
	char text[KEY_TEXT];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		err = errno;
	else if (!S_ISREG(st.st_mode))
		err = EINVAL;
	else if ((st.st_mode & 077) || (st.st_uid && st.st_uid != geteuid()))
		err = EPERM;
	if (!err) {
		n = read(fd, text, sizeof(text));
		if (n < 0)
			err = errno;
		else if (!key_of(text, n, key))
			err = EINVAL;
		explicit_bzero(text, sizeof(text));
	}
	close(fd);
	errno = err;
	return err ? -1 : 0;
}

const char *shuffle_key_str(int error)
{
	switch (error) {
	case EPERM:
		return "others may read or write it: it has to be ours or root's, with mode 0600";
	case EINVAL:
		return "not a file with a key: 16 bytes, or 32 hexadecimal digits";
	}
	return strerror(error);
}

int shuffle_key_set(int fd)
{
	/* Not secure_getenv(): a key that is named and not used would be none. */
	const char *path = getenv("SHUFFLE_KEY_FILE");
	unsigned char key[SHUFFLE_KEY_BYTES];
	int err = 0;

	if (!path)
		return 0;
	if (shuffle_key_file(path, key)) {
		err = errno;
		fprintf(stderr, "AF_SHUFFLE: no socket without the key of SHUFFLE_KEY_FILE=%s: %s\n",
			path, shuffle_key_str(err));
	} else if (setsockopt(fd, SOL_SHUFFLE, SHUFFLE_KEY, key, sizeof(key))) {
		err = errno;
	}
	explicit_bzero(key, sizeof(key));
	errno = err;
	return err ? -1 : 0;
}
