/*
 * Writes protocol buffers: fields one after another, and messages inside
 * messages with their lengths.  It knows no schema.
 */
#ifndef OUT_PROTO_H
#define OUT_PROTO_H

#include <stddef.h>
#include <stdint.h>

/* A message that is being written; all zero when it is empty. */
struct proto {
	uint8_t *byte;
	size_t n;
};

void proto_int(struct proto *p, uint32_t field, uint64_t value);
void proto_fixed(struct proto *p, uint32_t field, uint64_t value);
void proto_real(struct proto *p, uint32_t field, double value);
void proto_text(struct proto *p, uint32_t field, const char *text);
/* Empties inside, which keeps its memory. */
void proto_message(struct proto *p, uint32_t field, struct proto *inside);
void proto_fini(struct proto *p);

#endif
