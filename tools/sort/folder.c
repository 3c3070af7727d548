// SPDX-License-Identifier: GPL-2.0-or-later
/* Folders as input. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "config.h"
#include "util.h"

/* No hidden files. */
static int shown(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* Byte by byte, as records. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void add(struct files *f, char *path)
{
	if (f->n % 64 == 0)
		f->path = reallocarray(f->path, f->n + 64, sizeof(*f->path));
	if (!f->path || !path)
		die("out of memory: %d files", f->n);
	f->path[f->n++] = path;
}

static void add_folder(struct files *f, const char *folder)
{
	struct dirent **e;
	struct stat st;
	char *path;
	int i, n;

	n = scandir(folder, &e, shown, by_name);
	if (n < 0)
		die("%s: %s", folder, strerror(errno));
	for (i = 0; i < n; i++) {
		if (asprintf(&path, "%s/%s", folder, e[i]->d_name) < 0)
			die("out of memory: %s", folder);
		free(e[i]);
		if (stat(path, &st))
			die("%s: %s", path, strerror(errno));
		if (S_ISREG(st.st_mode))
			add(f, path);
		else
			free(path);
	}
	free(e);
}

/**
 * files_init() - the files that paths stand for
 * @f: set
 * @path: files, which are taken as they are, and folders: their regular files in order of names,
 *        without those that begin with a dot and without folders
 * @paths: how many
 */
void files_init(struct files *f, char *const *path, int paths)
{
	struct stat st;
	int i;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < paths; i++) {
		if (!stat(path[i], &st) && S_ISDIR(st.st_mode))
			add_folder(f, path[i]);
		else
			add(f, strdup(path[i]));
	}
}

/**
 * files_free() - give their memory back
 * @f: what files_init() has set
 */
void files_free(struct files *f)
{
	while (f->n)
		free(f->path[--f->n]);
	free(f->path);
	f->path = NULL;
}
