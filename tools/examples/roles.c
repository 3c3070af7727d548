// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who sends to whom over relays, as "shuffle-plan-install roles" prints it; for shuffle-wordcount
 * and shuffle-query.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roles.h"
#include "shuffle.h"

/* One line.  Returns NULL, or what is wrong with it. */
static const char *read_line(struct role *role, unsigned char *seen, uint32_t count, char *line)
{
	char *save, *word = strtok_r(line, " \t", &save);
	char *parent = strtok_r(NULL, " \t", &save), *kind = strtok_r(NULL, " \t", &save);
	unsigned long rank, above;
	char *end;

	if (!kind || strtok_r(NULL, " \t", &save))
		return "want RANK PARENT member, relay or none";
	rank = strtoul(word, &end, 10);
	if (*word == '-' || *end || rank >= count)
		return "the group has no such rank";
	if (seen[rank]++)
		return "this rank was there before";
	role += rank;
	role->parent = ROLE_NOBODY;
	if (strcmp(parent, "-")) {
		above = strtoul(parent, &end, 10);
		if (*parent == '-' || *end || above >= count)
			return "the group has no such parent";
		role->parent = above;
	}
	if (!strcmp(kind, "member"))
		role->kind = ROLE_MEMBER;
	else if (!strcmp(kind, "relay"))
		role->kind = ROLE_RELAY;
	else if (strcmp(kind, "none"))
		return "the third word is member, relay or none";
	if (role->kind == ROLE_RELAY && role->parent == ROLE_NOBODY)
		return "a relay has a parent";
	if (role->kind == ROLE_NONE && role->parent != ROLE_NOBODY)
		return "who takes no part has no parent";
	return NULL;
}

/* All that send reach the receiver. */
static void check_tree(const struct role *role, uint32_t count, uint32_t receiver, const char *path)
{
	uint32_t i, at, hops;

	for (i = 0; i < count; i++) {
		if (role[i].kind == ROLE_NONE)
			continue;
		for (at = i, hops = 0; role[at].parent != ROLE_NOBODY && hops < count; hops++)
			at = role[at].parent;
		if (at != receiver)
			errx(2, "%s: what rank %u sends does not reach the receiver, rank %u", path,
			     i, receiver);
		if (role[i].kind == ROLE_RELAY && !role[i].children)
			errx(2, "%s: rank %u is a relay, and nobody sends to it", path, i);
	}
	if (!role[receiver].children)
		errx(2, "%s: nobody sends to the receiver, rank %u", path, receiver);
}

/**
 * roles_read() - read the roles; a file that is wrong ends the program with a message
 * @path: a line "RANK PARENT member|relay|none" for each member
 * @count: members of the group
 * @to: set to the rank of the receiver
 *
 * Return: of each member its role.
 */
struct role *roles_read(const char *path, uint32_t count, uint32_t *to)
{
	uint32_t i, receiver = ROLE_NOBODY;
	unsigned char *seen = calloc(count, 1);
	struct role *role = calloc(count, sizeof(*role));
	unsigned int number = 0;
	const char *wrong;
	char line[256];
	FILE *f;

	if (!seen || !role)
		err(1, "roles");
	f = fopen(path, "re");
	if (!f)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		number++;
		if (!strchr(line, '\n') && !feof(f))
			errx(2, "%s:%u: a line of more than %zu bytes", path, number,
			     sizeof(line) - 2);
		line[strcspn(line, "#\r\n")] = '\0';
		if (!line[strspn(line, " \t")])
			continue;
		wrong = read_line(role, seen, count, line);
		if (wrong)
			errx(2, "%s:%u: %s", path, number, wrong);
	}
	if (ferror(f))
		err(2, "%s", path);
	fclose(f);
	for (i = 0; i < count; i++) {
		if (!seen[i])
			errx(2, "%s: rank %u of the group is not there", path, i);
		if (role[i].parent != ROLE_NOBODY) {
			role[role[i].parent].children++;
		} else if (role[i].kind == ROLE_MEMBER) {
			if (receiver != ROLE_NOBODY)
				errx(2, "%s: ranks %u and %u have no parent", path, receiver, i);
			receiver = i;
		}
	}
	if (receiver == ROLE_NOBODY)
		errx(2, "%s: no receiver: a member without a parent", path);
	check_tree(role, count, receiver, path);
	*to = receiver;
	free(seen);
	return role;
}

/**
 * roles_open() - open the tree of which the roles are
 * @role: of each member its role
 * @group: all members
 * @rank: which one we are; its kind is ROLE_MEMBER
 * @spec: @idle_ms, @oper, @flags, @record and @arg; the rest is filled in
 *
 * A member without a parent is the receiver: its results have all other members' records.
 *
 * Return: the tree, or NULL and errno.
 */
struct shuffle_tree *roles_open(const struct role *role, const struct group *group, uint32_t rank,
				struct shuffle_tree_spec *spec)
{
	struct shuffle_edge *edge = calloc(group->count, sizeof(*edge));
	uint32_t *child = calloc(group->count, sizeof(*child)), i;
	uint64_t *senders = calloc((group->count + 63) / 64, sizeof(*senders));
	struct shuffle_tree *t = NULL;

	if (!edge || !child || !senders)
		goto out;
	spec->size = sizeof(*spec);
	spec->rank = rank;
	spec->members = edge;
	spec->count = group->count;
	spec->parent = role[rank].parent == ROLE_NOBODY ? SHUFFLE_TREE_NOBODY : role[rank].parent;
	spec->child = child;
	for (i = 0; i < group->count; i++) {
		edge[i].member = group->members[i];
		if (role[i].parent == rank)
			child[spec->children++] = i;
		if (role[i].kind == ROLE_MEMBER && i != rank)
			senders[i / 64] |= 1ULL << i % 64;
	}
	if (spec->parent == SHUFFLE_TREE_NOBODY)
		spec->senders = senders;
	t = shuffle_tree_open(spec);
	/* it has copied them */
	spec->members = NULL;
	spec->child = NULL;
	spec->senders = NULL;
out:
	free(senders);
	free(child);
	free(edge);
	return t;
}

/**
 * roles_agree() - agree with all that have a program on the numbers of operations
 * @role: of each member its role
 * @group: all members
 * @rank: which one we are; its kind is ROLE_MEMBER
 * @timeout_ms: wait for the others so long
 * @first_op: the first number; what has been used before never comes again
 * @missing: rank of a member that was missing, or ROLE_NOBODY
 *
 * A group of these members for that alone, before the tree is opened.  Late packets of it are
 * answered for a minute after its socket is gone.
 *
 * Return: 0, or -1 and errno.
 */
int roles_agree(const struct role *role, const struct group *group, uint32_t rank,
		uint64_t timeout_ms, uint64_t *first_op, uint32_t *missing)
{
	struct sockaddr_shuffle *member = calloc(group->count, sizeof(*member));
	uint32_t *of = calloc(group->count, sizeof(*of));
	unsigned int n = 0, me = 0, absent = UINT_MAX;
	int fd = -1, ret = -1, err;
	uint32_t i;

	*missing = ROLE_NOBODY;
	if (!member || !of)
		goto out;
	for (i = 0; i < group->count; i++) {
		if (role[i].kind != ROLE_MEMBER)
			continue;
		if (i == rank)
			me = n;
		of[n] = i;
		member[n++] = group->members[i];
	}
	fd = shuffle_open(member, n, me, SOCK_CLOEXEC);
	if (fd >= 0)
		ret = shuffle_agree(fd, n, timeout_ms, first_op, &absent);
	if (absent < n)
		*missing = of[absent];
out:
	err = errno;
	if (fd >= 0)
		close(fd);
	free(of);
	free(member);
	errno = err;
	return ret;
}
