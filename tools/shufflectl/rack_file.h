/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that say which hosts share a rack. */
#ifndef SHUFFLECTL_RACK_FILE_H
#define SHUFFLECTL_RACK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "topology_path.h"

#define RACK_NAME	TOPOLOGY_NAME

/**
 * struct rack_range - addresses of a rack
 * @v6: IPv6 addresses
 * @len: leading bits that they have in common
 * @addr: the first one
 * @name: of the rack
 * @line: of the file
 */
struct rack_range {
	bool		v6;
	uint8_t		len;
	uint8_t		addr[16];
	char		name[RACK_NAME];
	unsigned int	line;
};

/**
 * struct rack_file - what a file says
 * @path: its name, for messages
 * @range: sorted by address
 * @n: their number
 * @hosts: names and addresses in the file
 * @room: of @range
 */
struct rack_file {
	const char		*path;
	struct rack_range	*range;
	unsigned int		n;
	unsigned int		hosts;
	unsigned int		room;
};

int rack_file_read(struct rack_file *f, const char *path, const char *format);
int rack_file_words(struct rack_file *f, const char *words);
void rack_file_free(struct rack_file *f);
const char *rack_range_text(const struct rack_range *r, char *buf, unsigned int size);

#endif
