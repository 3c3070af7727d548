/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Module parameters: what namespaces follow until they have settings of their own.
 */
#ifndef _SHUFFLE_PARAMS_H
#define _SHUFFLE_PARAMS_H

#include <linux/types.h>

struct shuffle_params {
	int family;
	ushort udp_port;
	uint op_order;
	uint overcommit;
	uint link_mbps;
	uint rtt_ns;
	uint early_kbytes;
	uint finished_max;
	uint finished_secs;
	uint egress_kbytes;
	uint mem_mbytes;
};

extern struct shuffle_params shuffle_params;

int shuffle_params_check(void);

#endif /* _SHUFFLE_PARAMS_H */
