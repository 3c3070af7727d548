/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Characters in text that may be anything. */
#ifndef SHUFFLE_COMMON_UTF8_H
#define SHUFFLE_COMMON_UTF8_H

#include <stddef.h>

/**
 * utf8_bytes() - of the UTF-8 character that begins here
 * @s: where
 * @left: bytes that are there, at least 1
 *
 * Longer forms than need be, surrogates, and what is behind the last character are none.
 *
 * Return: 1 to 4; 0: none begins here.
 */
static inline size_t utf8_bytes(const unsigned char *s, size_t left)
{
	size_t i, n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

	if (n > left || !n || *s > 0xf4)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

#endif /* SHUFFLE_COMMON_UTF8_H */
