/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tools/nl asks of the program that it is linked into. */
#ifndef SHUFFLE_NL_PROGRAM_H
#define SHUFFLE_NL_PROGRAM_H

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * enum ctl_exit - exit status, as documented in shufflectl(8)
 * @CTL_OK: done
 * @CTL_USAGE: the command line is wrong; nothing was sent to the kernel
 * @CTL_KERNEL: the kernel refused; what it said follows "Error:"
 * @CTL_ENV: no module, no such namespace, device or file, no permission to look
 * @CTL_REFUSED: it would destroy something; --force does it anyhow
 * @CTL_SILENT: ping: nobody has answered
 */
enum ctl_exit {
	CTL_OK		= 0,
	CTL_USAGE	= 1,
	CTL_KERNEL	= 2,
	CTL_ENV		= 3,
	CTL_REFUSED	= 4,
	CTL_SILENT	= 5,
};

/* The program's own: say what went wrong; returns CTL_ENV. */
int ctl_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* SHUFFLE_NL_PROGRAM_H */
