#!/bin/sh
#
# What is added to the program by a folder and a line in a registry: a part of a
# machine, and a network interface with the messages on it.  Both are made up,
# compiled here, and linked with the program's own objects.  Needs $WEFT, in its
# build directory.
set -u
. "$(dirname "$0")/tap.sh"
src=$(cd "$src" && pwd)
objects=$(dirname "$weft")
cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null && [ -f "$objects/libweft_core.a" ] &&
	[ -f "$objects/weft.p/cli_main.c.o" ] || exit 77

# A registry of the tree with one more line, and what declares its name.
enter() { # FILE DECLARATION NAME
	mkdir -p "$tmp/$(dirname "$1")"
	awk -v declaration="$2" -v name="$3" '
		/^(static )?const struct .*registry\[\] = \{$/ {
			print declaration
		}
		/^\tNULL,$/ { printf "\t&%s,\n", name }
		{ print }
	' "$src/src/$1" >"$tmp/$1"
	[ "$(diff "$src/src/$1" "$tmp/$1" | grep -c '^>')" -eq 2 ] ||
		complain "$1: no registry to add a line to"
}

# The program from these files and, for the rest, from the tree.
build() { # PROGRAM FILES
	program=$1
	shift
	(cd "$tmp" && $cc -std=c11 -O1 -Wall -Wextra -Werror ${CFLAGS-} -I. \
		-I"$src/src" -I"$src/include" -o "$program" "$@" \
		"$objects/weft.p/cli_main.c.o" "$objects/libweft_core.a" \
		-lyaml -lsqlite3 -lm -pthread) >"$tmp/log" 2>&1 && return
	complain "$(head -n 5 "$tmp/log")"
	report "$program is built"
	exit $status
}

# --- a part ---

mkdir -p "$tmp/parts/made"
cat >"$tmp/parts/made/made.c" <<'END'
#include "parts/part.h"

#include "base/mem.h"
#include "facts/facts.h"
#include "net/net.h"
#include "net/proof.h"

struct made_params {
	int64_t lamps, broken;
};

struct made {
	uint64_t lamps, lit;
};

static const struct param rows[] = {
	PARAM_ROW(PARAM_COUNT, "lamps", offsetof(struct made_params, lamps),
		"2", 1, 8, "number of lamps of a node", "made up"),
	PARAM_ROW(PARAM_COUNT, "broken", offsetof(struct made_params, broken),
		"0", 0, 8, "number of lamps that stay dark", "made up"),
};

static const struct part_block blocks[] = {
	{ "made", rows, 2, 0 },
	{ 0 },
};

extern const struct part_ops part_made;

static int check(const void *params, const struct part_place *at, struct err *e)
{
	const struct made_params *p = params;

	(void)at;
	return p->broken <= p->lamps
		       ? 0
		       : err_set(e, "made.broken: only %d lamps",
				 (int)p->lamps);
}

static void *open_lamps(const void *params, const struct part_place *at,
	struct err *e)
{
	const struct made_params *p = params;
	struct made *m = mem_alloc(1, sizeof(*m));

	(void)e;
	m->lamps = (uint64_t)p->lamps * at->net->n_nodes;
	return m;
}

static void close_lamps(void *state)
{
	mem_free(state);
}

static void light(const void *params, const struct part_place *at)
{
	const struct made_params *p = params;
	struct made *m = part_state(at->parts, &part_made);

	m->lit = m->lamps - (uint64_t)p->broken;
}

static void facts(const void *params, const struct part_place *at, sim_time end,
	struct facts *f)
{
	const struct made *m = part_state(at->parts, &part_made);

	(void)params;
	(void)end;
	facts_count(f, "lamps_lit", m->lit);
	facts_line(f, "lamps", "{lamps_lit} are lit");
}

static int audit(const void *state, struct err *e)
{
	const struct made *m = state;

	return m->lit == m->lamps ? 0 : err_set(e, "audit: a lamp is dark");
}

static void prove(const void *params, const struct part_place *at,
	const struct route_written *x, struct proof *p)
{
	(void)params;
	(void)at;
	(void)x;
	p->step[p->n_steps] = p->step[0];
	snprintf(p->step[p->n_steps++].why, sizeof(p->step[0].why),
		"Nothing waits for a lamp.");
}

const struct part_ops part_made = {
	.name = "made",
	.needs = "any-side",
	.blocks = blocks,
	.params_size = sizeof(struct made_params),
	.check = check,
	.open = open_lamps,
	.close = close_lamps,
	.start = light,
	.facts = facts,
	.audit = audit,
	.prove = prove,
};
END
enter machine/parts.c 'extern const struct part_ops part_made;' part_made
build weft-part parts/made/made.c machine/parts.c
weft=$tmp/weft-part

run params torus
grep -q "^made.lamps  *2 " "$tmp/out" || complain "params: no made.lamps"
run params bgq
grep -q "^made" "$tmp/out" && complain "params: bgq has lamps"
run check torus --set made.broken=3
[ $code -eq 2 ] && grep -q "made.broken: only 2 lamps" "$tmp/err" ||
	complain "check: $code: $(cat "$tmp/err")"
run check torus
[ $code -eq 0 ] && grep -q "Nothing waits for a lamp" "$tmp/out" ||
	complain "check: $code: no step of the lamps"
report "a made-up part: its parameters and its proof"

run run torus --shape 4x4 pingpong via=msg --set made.lamps=3
[ $code -eq 0 ] && grep -q "^lamps  *48 are lit$" "$tmp/out" ||
	complain "text: $code: $(cat "$tmp/err")"
run run torus --shape 4x4 pingpong via=msg --json
[ $code -eq 0 ] && grep -q '"lamps_lit": 32' "$tmp/out" ||
	complain "JSON: $code: $(cat "$tmp/err")"
run run torus --shape 4x4 pingpong via=msg --set made.broken=1
[ $code -ne 0 ] && grep -q "audit: a lamp is dark" "$tmp/err" ||
	complain "audit: $code: $(cat "$tmp/err")"
report "a made-up part: its facts and its audit"

# --- a network interface ---

# The plain card by another name.
rename() { # FOLDER
	mkdir -p "$tmp/${1%/*}/made"
	for file in "$src/src/$1"/*.[ch]; do
		case $file in
		*_test.c | *_testing.[ch]) continue ;;
		esac
		sed 's/plain/made/g; s/PLAIN/MADE/g; s/workq_user/made_user/g' \
			"$file" >"$tmp/${1%/*}/made/$(basename "$file" |
				sed 's/plain/made/')"
	done
}

rename nic/plain
rename api/plain
enter nic/registry.c 'extern const struct nic_ops made_ops;' made_ops
enter api/registry.c 'extern const struct api made_api;' made_api
(cd "$tmp" && ls nic/made/*.c api/made/*.c) >"$tmp/files"
build weft-card $(cat "$tmp/files") nic/registry.c api/registry.c
weft=$tmp/weft-card

digest() { # KIND
	run run torus --shape 4x4 alltoall via=msg bytes=3000 --json \
		--set nic.kind=$1
	[ $code -eq 0 ] || complain "$1: $code: $(cat "$tmp/err")"
	sed -n 's/.*"digest": *"\([^"]*\)".*/\1/p' "$tmp/out"
}
plain=$(digest plain)
[ -n "$plain" ] && [ "$(digest made)" = "$plain" ] ||
	complain "the digest is not the plain card's"
run params torus --set nic.kind=made
grep -q "^nic.kind  *made " "$tmp/out" || complain "params: no made card"
run check torus --set nic.kind=made
[ $code -eq 0 ] && grep -q "made" "$tmp/out" ||
	complain "check: $code: $(cat "$tmp/err")"
report "a made-up card carries messages as the one it was copied from"

exit $status
