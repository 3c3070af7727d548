-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Wireshark and tshark dissector of AF_SHUFFLE.  The packets are described in
-- Documentation/networking/protocol.rst; what is malformed is
-- what net/shuffle/sched/wire.c refuses.
--
-- A datagram is a row of records.  Each gets a subtree.  A receiver stops at the
-- first record that is malformed, and so does the dissector: that record has
-- expert information, and what follows it is shown as ignored.
--
-- Beside what the packets say, records are tied together: a message is known by
-- its nonce, operation and the ranks of its sender and receiver, so that an ACK
-- finds the DATA that it answers, and DATA the GRANT that allowed it.
--
-- Works with the Lua 5.2 of Wireshark 4.0 as with later ones: no integers of
-- Lua's own, no bit operators.

local PORT = "818"
local VERSION = 3
local BASE_LEN = 28
local TAG_LEN = 8
local OVERLAY_LEN = 8		-- before its filter
local TAGGED = 0x80
local UNSCHED_UNIT = 64
local INFO_RECORDS = 4		-- named in the Info column

local DATA, GRANT, ACK, RESEND, ECHO, OVERLAY, ABORT = 1, 2, 3, 4, 5, 7, 8
local names = { [DATA] = "DATA", [GRANT] = "GRANT", [ACK] = "ACK", [RESEND] = "RESEND",
	[ECHO] = "ECHO", [OVERLAY] = "OVERLAY", [ABORT] = "ABORT" }
local header_len = { [DATA] = 40, [GRANT] = 40, [ACK] = 28, [RESEND] = 40, [ECHO] = 44,
	[ABORT] = 40 }	-- without tag
local known_flags = { [DATA] = 0xff, [GRANT] = 0x98, [ACK] = 0x98, [RESEND] = 0x91, [ECHO] = 0x03,
	[ABORT] = 0x83 }
local reasons = { "failed", "closed", "cancelled", "no memory", "disagrees", "timed out", "forgot" }
local BLAMED = 4		-- ranks that an ABORT names
local MAX_PLACE = UInt64(0xffffffff, 0xffff)		-- 2^48 - 1
local ZERO64 = UInt64(0, 0)

local shuffle = Proto("shuffle", "AF_SHUFFLE")

-- By type, from the highest bit: names in the table above, false where there is none
local control_flags = { "tagged", false, false, "hearsay", "tells", false, false, false }
-- what is in a packet of an overlay, by its version
local insides = { [4] = Dissector.get("ip"), [6] = Dissector.get("ipv6") }
local flags_of = {
	[DATA] = { "tagged", "digested", "sent", "met", "heard", "delay", "retrans", "probe" },
	[GRANT] = control_flags,
	[ACK] = control_flags,
	[RESEND] = { "tagged", false, false, "met", false, false, false, "waits" },
	[ECHO] = { false, false, false, false, false, false, "retrans", "probe" },
	[ABORT] = { "tagged", false, false, false, false, false, "whole", "yours" },
}
-- beside this file
local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or ""
local f, e = assert(loadfile(here .. "shuffle_fields.inc"))(shuffle, names, reasons)

shuffle.prefs.ports = Pref.range("UDP ports", PORT,
	"UDP ports of AF_SHUFFLE (the setting port of a network namespace)", 65535)
shuffle.prefs.heuristic = Pref.bool("Look at other ports", true,
	"Take datagrams to other UDP ports for AF_SHUFFLE that consist of nothing but valid records")
shuffle.prefs.track = Pref.bool("Tie records together", true,
	"Find the GRANT, RESEND or DATA that a record answers, and retransmissions")

-- ---- one record ----

-- How much of the datagram can be read: a capture may have cut it off.
local function readable(tvb, off, len)
	return off + len <= tvb:captured_len()
end

local function bad(r, expert_info, ...)
	r.errors[#r.errors + 1] = { info = expert_info, text = string.format(...) }
end

-- 48 bits, big-endian
local function place48(tvb, off)
	return UInt64(tvb(off + 2, 4):uint(), tvb(off, 2):uint())
end

local function check_data(r, left)
	if r.payload > left - r.header then
		bad(r, e.payload, "Payload of %d bytes, and %d are left in the datagram",
			r.payload, left - r.header)
	end
	if r.b > r.a then
		bad(r, e.length, "Offset %s in a message of %s bytes", tostring(r.b), tostring(r.a))
	elseif UInt64(r.payload, 0) > r.a - r.b then
		bad(r, e.length, "Payload of %d bytes at %s in a message of %s bytes",
			r.payload, tostring(r.b), tostring(r.a))
	end
end

local function check_control(r)
	if r.tells then
		r.unsched, r.payload = 0, 0
	end
	if r.unsched ~= 0 then
		bad(r, e.reserved, "Unscheduled is %d: only DATA has it", r.unsched)
	end
	if r.payload ~= 0 then
		bad(r, e.reserved, "Payload length is %d: only DATA has payload", r.payload)
	end
	if r.type == GRANT and r.b > r.a then
		bad(r, e.length, "Arrived up to %s, granted up to %s", tostring(r.b), tostring(r.a))
	end
	if r.type == RESEND and r.a + r.b > MAX_PLACE then
		bad(r, e.length, "Offset %s and length %s: the sum is over 2^48",
			tostring(r.a), tostring(r.b))
	end
	if r.waits and (r.a ~= ZERO64 or r.b ~= ZERO64 or r.nonce ~= ZERO64) then
		bad(r, e.reserved, "A RESEND with 0x01 that asks for something")
	end
end

-- An echo is of a host: it has no ranks, no ports, no tag.
local function check_echo(r, left)
	local reply, short = r.probe, r.retrans

	if r.src_rank ~= 0 or r.src_port ~= 0 or r.dst_port ~= 0 or r.dst_rank ~= 0 then
		bad(r, e.reserved, "An ECHO with ranks or a port")
	end
	if r.unsched ~= 0 then
		bad(r, e.reserved, "Unscheduled is %d: only DATA has it", r.unsched)
	end
	if not reply and (r.a ~= ZERO64 or r.b ~= ZERO64) then
		bad(r, e.reserved, "Times in a question")
	end
	if reply and short and r.payload ~= 0 then
		bad(r, e.reserved, "%d bytes of padding in a short answer", r.payload)
	end
	if r.payload > left - r.header then
		bad(r, e.payload, "Padding of %d bytes, and %d are left in the datagram",
			r.payload, left - r.header)
	end
end

-- Somebody is to blame, for some reason.
local function check_abort(r)
	check_control(r)
	if r.reason == 0 or r.ranks == 0 then
		bad(r, e.length, "An ABORT without %s", r.reason == 0 and "reason" or "anybody to blame")
	end
	for i = r.ranks + 1, BLAMED do
		if r.blamed[i] ~= 0 then
			bad(r, e.reserved, "An ABORT that names more than the %d to blame", r.ranks)
			break
		end
	end
end

-- A flag means different things in different types.
local function check_flags(r)
	local has = {}

	for bit = 0, 7 do
		has[bit] = math.floor(r.flags / 2 ^ bit) % 2 == 1
		if has[bit] and math.floor(known_flags[r.type] / 2 ^ bit) % 2 == 0 then
			bad(r, e.reserved, "Flags 0x%02x on %s: it has no 0x%02x", r.flags, names[r.type], 2 ^ bit)
			return
		end
	end
	if (r.sent or r.met) and r.payload > 0 then
		bad(r, e.reserved, "Flags 0x%02x: 0x%02x with payload", r.flags, r.sent and 0x20 or 0x10)
	elseif r.met and r.type == RESEND and (r.waits or r.nonce ~= ZERO64) then
		bad(r, e.reserved, "Flags 0x%02x: 0x10 with a nonce or 0x01", r.flags)
	elseif r.sent and r.digested then
		bad(r, e.reserved, "Flags 0x%02x: 0x40 with 0x20", r.flags)
	elseif r.hearsay and not r.tells then
		bad(r, e.reserved, "Flags 0x%02x: 0x10 without 0x08", r.flags)
	elseif r.whole and not r.yours then
		bad(r, e.reserved, "Flags 0x%02x: 0x02 without 0x01", r.flags)
	end
end

-- A packet of an overlay (tools/overlay): a filter, and a packet with its own addresses behind it.
local function parse_overlay(tvb, r, left)
	local hashes, bits
	r.type, r.size = OVERLAY, left
	if left < OVERLAY_LEN then
		bad(r, e.header, "OVERLAY has at least %d bytes, and %d are left", OVERLAY_LEN, left)
		return r
	end
	r.cut = not readable(tvb, 0, OVERLAY_LEN)
	if r.cut then return r end
	hashes, bits = tvb(2, 1):uint(), tvb(4, 2):uint()
	if tvb(1, 1):uint() ~= 0 or tvb(6, 2):uint() ~= 0 then
		bad(r, e.reserved, "Reserved bits of OVERLAY are set")
		return r
	end
	if hashes == 0 or hashes > 32 or bits == 0 or bits > 1024 then
		bad(r, e.length, "A filter of %d bits, %d for each hop", bits, hashes)
		return r
	end
	r.header = OVERLAY_LEN + 8 * math.floor((bits + 63) / 64)
	if left <= r.header then
		bad(r, e.header, "OVERLAY has %d bytes and a packet, and %d are left", r.header, left)
		return r
	end
	r.overlay = readable(tvb, 0, r.header + 1)
	r.cut = not r.overlay
	if r.cut then return r end
	r.inside = insides[tvb(r.header, 1):bitfield(0, 4)]
	if not r.inside then
		bad(r, e.header, "No IP packet is in OVERLAY")
	end
	return r
end

-- The record at OFF: its fields, "size" of what can be shown of it, "errors"
-- (after which a receiver stops), or "cut" if the capture ends within it.
local function parse(tvb, off)
	local left = tvb:reported_len() - off
	local r = { off = off, errors = {}, size = left }

	if off == 0 and readable(tvb, 0, 1) and tvb(0, 1):uint() == VERSION * 16 + OVERLAY then
		r.version = VERSION
		return parse_overlay(tvb, r, left)
	end
	if left < BASE_LEN then
		bad(r, e.trailing, "%d bytes are left, and a record has at least %d", left, BASE_LEN)
		return r
	end
	if not readable(tvb, off, BASE_LEN) then
		r.cut = true
		return r
	end
	r.version = tvb(off, 1):bitfield(0, 4)
	r.type = tvb(off, 1):bitfield(4, 4)
	if r.version ~= VERSION then
		bad(r, e.version, "Version %d: this is about version %d", r.version, VERSION)
		return r
	end
	r.header = header_len[r.type]
	if not r.header then
		bad(r, e.type, "Type %d does not exist", r.type)
		return r
	end
	r.tagged = tvb(off + 1, 1):bitfield(0, 1) == 1
	if r.tagged and r.type ~= ECHO then
		r.header = r.header + TAG_LEN
	end
	for i, flag in ipairs(flags_of[r.type]) do
		r[flag] = flag and tvb(off + 1, 1):bitfield(i - 1, 1) == 1
	end
	r.flags = tvb(off + 1, 1):uint()
	r.src_rank = tvb(off + 2, 2):uint()
	r.dst_port = tvb(off + 4, 2):uint()
	r.dst_rank = tvb(off + 6, 2):uint()
	r.op_id = tostring(tvb(off + 8, 8):uint64())
	r.src_port = tvb(off + 16, 2):uint()
	r.nonce = place48(tvb, off + 18)
	r.unsched = tvb(off + 24, 2):uint()
	r.payload = tvb(off + 26, 2):uint()
	r.fields = true
	if left < r.header then
		bad(r, e.header, "%s has %d bytes of header, and %d are left in the datagram",
			names[r.type], r.header, left)
		return r
	end
	r.a, r.b = ZERO64, ZERO64
	if not readable(tvb, off, r.header) then
		r.cut = true
		return r
	end
	if r.type == ECHO then
		r.a = tvb(off + 28, 8):uint64()
		r.b = tvb(off + 36, 8):uint64()
		r.offsets = true
	elseif r.type == ABORT then
		r.reason, r.ranks, r.blamed = tvb(off + 28, 2):uint(), tvb(off + 30, 2):uint(), {}
		for i = 1, BLAMED do
			r.blamed[i] = tvb(off + 30 + 2 * i, 2):uint()
		end
		r.offsets = true
	elseif r.type ~= ACK then
		r.a = place48(tvb, off + 28)
		r.b = place48(tvb, off + 34)
		r.offsets = true
	end
	if r.type == DATA and r.digested then
		r.digest, r.b = r.b, ZERO64
		if r.digest == ZERO64 then
			bad(r, e.reserved, "A digest of 0")
		end
	end
	check_flags(r)
	if r.nonce == ZERO64 and r.type ~= RESEND then
		bad(r, e.nonce, "Nonce 0 in %s", names[r.type])
	end
	if r.type == ABORT then
		check_abort(r)
		r.size = r.header
	elseif r.type == DATA then
		check_data(r, left)
		r.size = math.min(r.header + r.payload, left)
	elseif r.type == ECHO then
		check_echo(r, left)
		r.size = math.min(r.header + r.payload, left)
	else
		check_control(r)
		r.size = r.header
	end
	r.cut = not readable(tvb, off, r.size)
	return r
end

-- Does a record go from its message's sender to the receiver?
local function goes_forward(r)
	return r.type == DATA or (r.type == ABORT and not r.yours)
end

-- Ranks of the message's sender and receiver.
local function ends(r)
	if goes_forward(r) then
		return r.src_rank, r.dst_rank
	end
	return r.dst_rank, r.src_rank
end

local function describe(r)
	local who

	if r.type == OVERLAY then
		return "OVERLAY"
	end
	who = string.format("%s op %s %d > %d", names[r.type], r.op_id, r.src_rank, r.dst_rank)
	if r.type == ECHO then
		return string.format("ECHO %s %s", r.probe and "answer" or "question", r.op_id)
	elseif not r.offsets then
		return who
	elseif r.type == GRANT then
		return string.format("%s up to %s, arrived %s", who, tostring(r.a), tostring(r.b))
	elseif r.type == RESEND then
		return string.format("%s %s bytes at %s", who, tostring(r.b), tostring(r.a))
	elseif r.type == ABORT then
		return string.format("%s: rank %d %s", who, r.blamed[1], reasons[r.reason] or "left")
	elseif r.payload == 0 then
		return string.format("%s %s of %s bytes", who, r.probe and "probe" or "announces", tostring(r.a))
	end
	return string.format("%s %d bytes at %s of %s", who, r.payload, tostring(r.b), tostring(r.a))
end

-- ---- records that belong together ----

local messages = {}	-- by nonce, operation, ranks and addresses
local related = {}	-- by frame and offset: what the first pass found

function shuffle.init()
	messages, related = {}, {}
end

local function message_key(r, pinfo)
	local from, to = tostring(pinfo.src), tostring(pinfo.dst)
	local sender, receiver = ends(r)

	if not goes_forward(r) then
		from, to = to, from
	end
	return table.concat({ tostring(r.nonce), r.op_id, sender, receiver, from, to }, "/")
end

-- Is [FROM, TO) part of what has been seen?  SEEN is sorted, disjoint ranges.
local function seen_before(seen, from, to)
	for i = 1, #seen do
		if from >= seen[i][1] and to <= seen[i][2] then
			return true
		end
	end
	return false
end

-- Adds [FROM, TO) to the ranges.
local function add_range(seen, from, to)
	local i = 1

	while seen[i] and seen[i][2] < from do
		i = i + 1
	end
	while seen[i] and seen[i][1] <= to do
		from = math.min(from, seen[i][1])
		to = math.max(to, seen[i][2])
		table.remove(seen, i)
	end
	table.insert(seen, i, { from, to })
end

-- N is a whole number below 2^53, which a double holds.
local function number64(n)
	return UInt64(n % 2 ^ 32, math.floor(n / 2 ^ 32))
end

local function relate_data(m, r, rel, frame)
	local from = r.b:tonumber()
	local to = from + r.payload

	if r.payload == 0 then
		return
	end
	rel.retransmission = seen_before(m.seen, from, to)
	add_range(m.seen, from, to)
	m.unsched = m.unsched or r.unsched * UNSCHED_UNIT
	-- the earliest GRANT that covers it; what is unscheduled needs none
	if to > m.unsched then
		for _, g in ipairs(m.grants) do
			if g.granted >= number64(to) then
				rel.granted_in = g.frame
				break
			end
		end
	end
	for i = #m.resends, 1, -1 do
		local q = m.resends[i]

		if q.from < to and from < q.to then
			rel.asked_in = q.frame
			break
		end
	end
end

local function relate(r, pinfo)
	local key = message_key(r, pinfo)
	local m = messages[key]
	local frame = pinfo.number
	local rel = {}

	if r.nonce == ZERO64 or r.type == ECHO then
		return rel
	end
	if not m then
		m = { frame = frame, time = pinfo.rel_ts, seen = {}, grants = {}, resends = {} }
		messages[key] = m
	end
	rel.message = m
	rel.time = pinfo.rel_ts - m.time
	if r.type == DATA then
		relate_data(m, r, rel, frame)
	elseif r.type == GRANT then
		local last = m.grants[#m.grants]
		local before = last and last.granted or number64(m.unsched or 0)

		rel.newly = ZERO64
		rel.outstanding = r.a - r.b
		if r.a > before then
			rel.newly = r.a - before
			m.grants[#m.grants + 1] = { frame = frame, granted = r.a }
		end
	elseif r.type == RESEND then
		m.resends[#m.resends + 1] = { frame = frame, from = r.a:tonumber(),
			to = r.a:tonumber() + r.b:tonumber() }
	elseif r.type == ACK and not m.acked then
		m.acked = frame
	end
	return rel
end

-- What is known of a record of a frame; found once, in order of time.
local function relation(r, pinfo)
	local frame = related[pinfo.number]

	if not shuffle.prefs.track then
		return nil
	end
	if not pinfo.visited then
		frame = frame or {}
		related[pinfo.number] = frame
		frame[r.off] = frame[r.off] or relate(r, pinfo)
	end
	return frame and frame[r.off]
end

-- ---- the tree ----

local function generated(tree, field, value)
	return tree:add(field, value):set_generated()
end

local function show_relation(tree, r, rel, frame)
	local m = rel.message
	local ns

	if not m then
		return
	end
	ns = math.floor(rel.time * 1e9 + 0.5)
	if m.frame ~= frame then
		generated(tree, f.first, m.frame)
		generated(tree, f.duration, NSTime(math.floor(ns / 1e9), ns % 1e9))
	end
	if rel.granted_in then
		generated(tree, f.granted_in, rel.granted_in)
	end
	if rel.asked_in then
		generated(tree, f.asked_in, rel.asked_in)
	end
	if rel.newly then
		generated(tree, f.newly, rel.newly)
		generated(tree, f.outstanding, rel.outstanding)
	end
	if r.type == DATA and m.acked then
		generated(tree, f.acked_in, m.acked)
	end
	if rel.retransmission then
		tree:add_proto_expert_info(e.retrans)
	end
end

local function show_echo(tree, flags, tvb, r)
	local off = r.off

	flags:add(f.reply, tvb(off + 1, 1))
	flags:add(f.short, tvb(off + 1, 1))
	tree:add(f.seq, tvb(off + 8, 8))
	tree:add(f.nonce, tvb(off + 18, 6), r.nonce)
	tree:add(f.payload_len, tvb(off + 26, 2))
end

local function show_fields(tree, tvb, r)
	local off = r.off
	local sender, receiver = ends(r)
	local sub = tree:add(f.flags, tvb(off + 1, 1))

	if r.type == ECHO then
		show_echo(tree, sub, tvb, r)
		return
	end
	for _, flag in ipairs(flags_of[r.type]) do
		if flag then
			sub:add(f[flag], tvb(off + 1, 1))
		end
	end
	tree:add(f.src_rank, tvb(off + 2, 2))
	tree:add(f.rank, tvb(off + 2, 2)):set_hidden()
	tree:add(f.src_port, tvb(off + 16, 2))
	tree:add(f.dst_port, tvb(off + 4, 2))
	tree:add(f.dst_rank, tvb(off + 6, 2))
	tree:add(f.rank, tvb(off + 6, 2)):set_hidden()
	generated(tree, f.sender, sender)
	generated(tree, f.receiver, receiver)
	tree:add(f.op_id, tvb(off + 8, 8))
	tree:add(f.nonce, tvb(off + 18, 6), r.nonce)
	if r.tells then
		tree:add(f.slowest, tvb(off + 24, 4))
	else
		tree:add(f.unsched, tvb(off + 24, 2))
		tree:add(f.payload_len, tvb(off + 26, 2))
	end
	if r.type == DATA then
		generated(tree, f.unsched_bytes, r.unsched * UNSCHED_UNIT)
	end
	if r.tagged and readable(tvb, off, r.header) then
		tree:add(f.tag, tvb(off + r.header - TAG_LEN, TAG_LEN))
	end
end

local offset_fields = {
	[DATA] = { f.msg_len, f.offset },
	[GRANT] = { f.granted, f.arrived },
	[RESEND] = { f.resend_off, f.resend_len },
}

local function show_offsets(tree, tvb, r)
	local first = r.off + r.header
	local have = math.min(r.size - r.header, tvb:captured_len() - first)

	if r.type == ECHO then
		tree:add(f.rx_time, tvb(r.off + 28, 8))
		tree:add(f.tx_time, tvb(r.off + 36, 8))
		if have > 0 then
			tree:add(f.echo_padding, tvb(first, have))
		end
		if #r.errors == 0 and r.probe and r.b >= r.a then
			generated(tree, f.stay, r.b - r.a)
		end
		return
	end
	if r.type == ABORT then
		tree:add(f.reason, tvb(r.off + 28, 2))
		tree:add(f.ranks, tvb(r.off + 30, 2))
		for i = 1, math.min(r.ranks, BLAMED) do
			tree:add(f.blamed, tvb(r.off + 30 + 2 * i, 2))
		end
		if #r.errors == 0 then
			tree:add_proto_expert_info(e.abort)
		end
		return
	end
	if r.digest then
		tree:add(f.digest, tvb(r.off + 34, 6), r.digest)
	end
	tree:add(offset_fields[r.type][1], tvb(r.off + 28, 6), r.a)
	tree:add(offset_fields[r.type][2], tvb(r.off + 34, 6), r.b)
	if r.type == DATA and have > 0 then
		tree:add(f.payload, tvb(first, have))
	end
	if #r.errors > 0 then
		return
	end
	if r.type == DATA and r.probe then
		tree:add_proto_expert_info(e.probe)
	elseif r.type == RESEND and r.nonce == ZERO64 then
		tree:add_proto_expert_info(e.resend, "Nothing has been heard of this message")
	elseif r.type == RESEND and r.b > ZERO64 then
		tree:add_proto_expert_info(e.resend,
			string.format("%s bytes at %s are missing", tostring(r.b), tostring(r.a)))
	end
end

local function show_overlay(tree, tvb, r)
	tree:add(f.overlay_hashes, tvb(2, 1))
	tree:add(f.overlay_salt, tvb(3, 1))
	tree:add(f.overlay_bits, tvb(4, 2))
	tree:add(f.overlay_filter, tvb(OVERLAY_LEN, r.header - OVERLAY_LEN))
end

local function show(tree, tvb, pinfo, r, index)
	local have = math.min(r.size, tvb:captured_len() - r.off)
	local sub, rel

	if have <= 0 then
		tree:add_proto_expert_info(e.cut)
		return
	end
	sub = tree:add(shuffle, tvb(r.off, have))
	sub:set_text("Record " .. index .. ": " .. ((r.fields or r.overlay) and describe(r) or "malformed"))
	if r.version then
		sub:add(f.version, tvb(r.off, 1))
		sub:add(f.type, tvb(r.off, 1))
	end
	if r.overlay then
		show_overlay(sub, tvb, r)
	end
	if r.fields then
		show_fields(sub, tvb, r)
	end
	if r.offsets then
		show_offsets(sub, tvb, r)
	end
	for _, x in ipairs(r.errors) do
		sub:add_proto_expert_info(x.info, x.text)
	end
	if r.cut then
		sub:add_proto_expert_info(e.cut)
	end
	if #r.errors == 0 and r.fields and (r.offsets or r.type == ACK) then
		rel = relation(r, pinfo)
	end
	if rel then
		show_relation(sub, r, rel, pinfo.number)
	end
end

-- All records up to the first that cannot be read or is malformed.
local function parse_all(tvb)
	local off, len = 0, tvb:reported_len()
	local all = {}

	while off < len do
		local r = parse(tvb, off)

		all[#all + 1] = r
		off = off + r.size
		if #r.errors > 0 or (r.cut and not (r.offsets or r.type == ACK)) then
			break
		end
	end
	return all, off
end

-- The size of a super-packet's packets, nil if the datagram is none.
local function segment_size(all)
	local size = all[1].size

	if #all < 2 then
		return nil
	end
	for i, r in ipairs(all) do
		if r.type ~= DATA or not r.offsets or #r.errors > 0 or
		   r.size > size or (r.size < size and i < #all) then
			return nil
		end
	end
	return size
end

local function info_column(pinfo, all, segment)
	local parts = {}

	if segment then
		local total = 0

		for _, r in ipairs(all) do
			total = total + r.payload
		end
		pinfo.cols.info = string.format("%s (super-packet: %d x %d bytes, %d of payload)",
			describe(all[1]), #all, segment, total)
		return
	end
	for i, r in ipairs(all) do
		if i > INFO_RECORDS then
			parts[#parts + 1] = string.format("%d more", #all - INFO_RECORDS)
			break
		end
		if #r.errors > 0 then
			parts[#parts + 1] = "[" .. r.errors[1].text .. "]"
		elseif r.fields or r.overlay then
			parts[#parts + 1] = describe(r)
		end
	end
	pinfo.cols.info = table.concat(parts, "; ")
end

function shuffle.dissector(tvb, pinfo, tree)
	local len = tvb:reported_len()
	local top = tree:add(shuffle, tvb())
	local all, seen, segment

	pinfo.cols.protocol = "SHUFFLE"
	if len == 0 then
		top:add_proto_expert_info(e.empty)
		pinfo.cols.info = "[Empty datagram]"
		return 0
	end
	all, seen = parse_all(tvb)
	segment = segment_size(all)
	info_column(pinfo, all, segment)
	top:append_text(string.format(", %d bytes in %d record%s", len, #all, #all > 1 and "s" or ""))
	generated(top, f.records, #all)
	if segment then
		generated(top, f.super, #all)
		generated(top, f.segment, segment)
	end
	for i, r in ipairs(all) do
		show(top, tvb, pinfo, r, i)
	end
	if seen < tvb:captured_len() then
		top:add(f.ignored, tvb(seen))
	end
	if all[1].inside then
		all[1].inside:call(tvb(all[1].header):tvb(), pinfo, tree)
	end
	return len
end

-- ---- ports ----

local udp = DissectorTable.get("udp.port")
local ports = PORT

udp:add(ports, shuffle)

function shuffle.prefs_changed()
	if ports ~= shuffle.prefs.ports then
		udp:remove(ports, shuffle)
		ports = shuffle.prefs.ports
		udp:add(ports, shuffle)
	end
end

-- Datagrams to other ports: nothing but valid records.
local function heuristic(tvb, pinfo, tree)
	local all

	if not shuffle.prefs.heuristic or tvb:captured_len() < BASE_LEN or
	   tvb(0, 1):bitfield(0, 4) ~= VERSION then
		return false
	end
	all = parse_all(tvb)
	if #all[#all].errors > 0 or not (all[1].fields or all[1].inside) then
		return false
	end
	shuffle.dissector(tvb, pinfo, tree)
	return true
end

shuffle:register_heuristic("udp", heuristic)
