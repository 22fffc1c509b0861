#define _GNU_SOURCE
#include "record/pages.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	PAGE = PAGES_SIZE,
	LEAF_HEADER = 8,
	INNER_HEADER = 12, /* with the last child */
	INNER_CELL = 4 + PAGES_VARINT, /* a child, and its last key */
	INNER = 5, /* kind of page */
	MOST_CHILDREN = (PAGE - PAGES_HEAD - INNER_HEADER) / (INNER_CELL + 2),
	MOST_PAYLOAD = PAGE - 35, /* longer ones have pages of their own */
	LEAST_PAYLOAD =
		(PAGE - 12) * 32 / 255 - 23, /* of which so much stays */
	OVERFLOW = PAGE - 4, /* on each of those */
	/* SQLite locks bytes of this one, and never uses it */
	LOCK_PAGE = (1 << 30) / PAGE + 1,
};

/* --- numbers --- */

static uint8_t *put_big(uint8_t *at, uint64_t value, uint32_t bytes)
{
	while (bytes--)
		*at++ = (uint8_t)(value >> 8 * bytes);
	return at;
}

static uint32_t get_big(const uint8_t *at, uint32_t bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* Seven bits in a byte, the highest first; the ninth byte has eight. */
static uint8_t *put_long_varint(uint8_t *at, uint64_t value)
{
	uint32_t n = 2;

	while (n < PAGES_VARINT && value >> 7 * n)
		n++;
	if (n == PAGES_VARINT) {
		for (uint32_t i = 0; i < 8; i++)
			*at++ = (uint8_t)(0x80 | value >> (57 - 7 * i));
		*at++ = (uint8_t)value;
		return at;
	}
	while (--n)
		*at++ = (uint8_t)(0x80 | value >> 7 * n);
	*at++ = value & 0x7f;
	return at;
}

static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	if (value >= 0x80)
		return put_long_varint(at, value);
	*at++ = (uint8_t)value;
	return at;
}

/* --- pages --- */

uint32_t pages_next(struct pages *p)
{
	p->n++;
	p->n += p->n == LOCK_PAGE;
	if (p->file < 0)
		p->bytes = mem_grow(p->bytes, p->n, PAGE);
	return p->n;
}

static void put_bytes(
	struct pages *p, size_t at, const uint8_t *bytes, size_t n)
{
	if (p->bytes)
		memcpy(p->bytes + at, bytes, n);
	if (p->file >= 0 && !p->error)
		p->error = pages_write(p->file, at, bytes, n);
}

void pages_put(struct pages *p, uint32_t number, const uint8_t page[PAGE])
{
	put_bytes(p, (size_t)(number - 1) * PAGE, page, PAGE);
}

int pages_write(int file, size_t at, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		ssize_t some = pwrite(file, from, n, (off_t)at);

		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0)
			return some ? errno : ENOSPC;
		from += some;
		at += (size_t)some;
		n -= (size_t)some;
	}
	return 0;
}

/* Without cells. */
static void clear(uint8_t *page, uint32_t kind)
{
	memset(page, 0, PAGE);
	page[0] = (uint8_t)kind;
	put_big(page + 5, PAGE, 2);
}

void pages_put_empty(struct pages *p, uint32_t number, uint32_t kind)
{
	uint8_t page[PAGE];

	clear(page, kind);
	pages_put(p, number, page);
}

bool pages_is_empty(const struct pages *p, uint32_t number)
{
	uint8_t page[LEAF_HEADER];

	return pread(p->file, page, sizeof(page), (off_t)(number - 1) * PAGE) ==
		       sizeof(page) &&
	       page[0] == PAGES_LEAF && !get_big(page + 3, 2) &&
	       !get_big(page + 1, 2);
}

/* --- the file's head --- */

static const char magic[] = "SQLite format 3";

/* The size, and changes of the file when it was set. */
static void put_size(uint8_t *head, uint32_t n, uint32_t changes)
{
	put_big(head + 24, changes, 4);
	put_big(head + 28, n, 4);
	put_big(head + 92, changes, 4);
}

void pages_put_head(struct pages *p, uint32_t application)
{
	uint8_t *head = p->bytes;

	memset(head, 0, PAGES_HEAD);
	memcpy(head, magic, sizeof(magic));
	put_big(head + 16, PAGE, 2);
	memcpy(head + 18, (uint8_t[]){ 1, 1, 0, 64, 32, 32 }, 6);
	put_size(head, p->n, 1);
	put_big(head + 40, 1, 4); /* changes of the schema */
	put_big(head + 44, 4, 4); /* format of the schema */
	put_big(head + 56, 1, 4); /* UTF-8 */
	put_big(head + 68, application, 4);
}

/* Pages that are free, or of an index of pages, would need more care. */
bool pages_init(struct pages *p, int file)
{
	const uint8_t *head = p->head;
	bool is_known;

	*p = (struct pages){ .file = file };
	if (pread(file, p->head, PAGES_HEAD, 0) != PAGES_HEAD)
		return false;
	is_known = !memcmp(head, magic, sizeof(magic)) &&
		   get_big(head + 16, 2) == PAGE && head[18] == 1 &&
		   head[19] == 1 && !head[20] && !get_big(head + 32, 4) &&
		   !get_big(head + 52, 4) && !memcmp(head + 24, head + 92, 4);

	p->n = is_known ? get_big(head + 28, 4) : 0;
	return p->n != 0;
}

/* --- records --- */

/* All of a row's numbers, which are not asked for. */
enum { NUMBERS = PAGES_COLUMNS * sizeof(uint64_t) };

void form_init(struct form *r)
{
	r->room = PAGE;
	r->value = mem_alloc(r->room, 1);
	form_start(r);
}

void form_fini(struct form *r)
{
	mem_free(r->value);
}

static void make_room(struct form *r, size_t n)
{
	size_t used = (size_t)(r->end - r->value);

	r->room = 2 * (used + n);
	r->value = mem_grow(r->value, r->room, 1);
	r->end = r->value + used;
}

static void add_bytes(
	struct form *r, const void *bytes, size_t n, uint64_t type)
{
	if (!bytes) {
		form_add_null(r);
		return;
	}
	r->end_of_types = put_varint(r->end_of_types, type + 2 * (uint64_t)n);
	if (n + NUMBERS > r->room - (size_t)(r->end - r->value))
		make_room(r, n + NUMBERS);
	memcpy(r->end, bytes, n);
	r->end += n;
}

void form_add_bytes(struct form *r, const void *bytes, size_t n)
{
	add_bytes(r, bytes, n, FORM_BYTES);
}

void form_add_text(struct form *r, const char *text)
{
	add_bytes(r, text, text ? strlen(text) : 0, FORM_TEXT);
}

/* --- leaves --- */

static void start_leaf(struct tree *t)
{
	clear(t->leaf, PAGES_LEAF);
	t->n_cells = 0;
	t->start = PAGE;
}

/* Its numbers are written when it is full. */
static void end_leaf(struct tree *t)
{
	put_big(t->leaf + 3, t->n_cells, 2);
	put_big(t->leaf + 5, t->start, 2);
}

static void add_child(struct tree *t, uint32_t page)
{
	t->child = mem_more(t->child, t->n, sizeof(*t->child));
	t->child[t->n++] = (struct tree_child){ page, t->key };
}

static void put_leaf(struct tree *t)
{
	uint32_t page = pages_next(t->pages);

	end_leaf(t);
	pages_put(t->pages, page, t->leaf);
	add_child(t, page);
	start_leaf(t);
}

/* Room for a cell: pointers grow from the front, cells from the end. */
static inline uint8_t *new_cell(struct tree *t, size_t n)
{
	uint32_t front = LEAF_HEADER + 2 * t->n_cells;

	if (t->head + front + 2 + n > t->start) {
		put_leaf(t);
		front = LEAF_HEADER;
	}
	t->start -= (uint32_t)n;
	t->leaf[front] = (uint8_t)(t->start >> 8);
	t->leaf[front + 1] = (uint8_t)t->start;
	t->n_cells++;
	return t->leaf + t->start;
}

/* The rest of a record, on pages that follow each other; returns the first. */
static uint32_t put_overflow(struct tree *t, const uint8_t *rest, size_t n)
{
	uint32_t first = pages_next(t->pages), at = first;
	uint8_t page[PAGE];

	for (;;) {
		bool is_last = n <= OVERFLOW;
		size_t some = is_last ? n : OVERFLOW;
		uint32_t next = is_last ? 0 : pages_next(t->pages);

		memset(page, 0, PAGE);
		put_big(page, next, 4);
		memcpy(page + 4, rest, some);
		pages_put(t->pages, at, page);
		if (is_last)
			return first;
		rest += some;
		n -= some;
		at = next;
	}
}

/* Of a row that is longer than a page. */
static void add_long(struct tree *t, const uint8_t *front, size_t n_front,
	const uint8_t *record, size_t n)
{
	size_t here = LEAST_PAYLOAD + (n - LEAST_PAYLOAD) % OVERFLOW;
	uint8_t *cell;

	here = here <= MOST_PAYLOAD ? here : LEAST_PAYLOAD;
	cell = new_cell(t, n_front + here + 4);
	memcpy(cell, front, n_front);
	memcpy(cell + n_front, record, here);
	put_big(cell + n_front + here, put_overflow(t, record + here, n - here),
		4);
}

/*
 * A row in a page: its length and its key, the length of its types, itself
 * included (one byte or two), and the record.
 */
void tree_add(struct tree *t, int64_t key, const struct form *r)
{
	size_t types = (size_t)(r->end_of_types - r->type);
	size_t values = (size_t)(r->end - r->value);
	size_t head = types + 1 + (types + 1 > 0x7f), n = head + values;
	uint8_t front[2 * PAGES_VARINT], *at;
	size_t n_front =
		(size_t)(put_varint(put_varint(front, n), (uint64_t)key) -
			 front);

	if (n <= MOST_PAYLOAD) {
		at = new_cell(t, n_front + n);
		memcpy(at, front, n_front);
		at = put_varint(at + n_front, head);
		memcpy(at, r->type, types);
		memcpy(at + types, r->value, values);
	} else {
		uint8_t *record = mem_alloc(n, 1);

		at = put_varint(record, head);
		memcpy(at, r->type, types);
		memcpy(at + types, r->value, values);
		add_long(t, front, n_front, record, n);
		mem_free(record);
	}
	t->key = key;
}

/* --- pages above leaves --- */

static void make_inner(uint8_t *page, const struct tree_child *child, size_t n)
{
	uint32_t start = PAGE;

	clear(page, INNER);
	for (size_t i = 0; i + 1 < n; i++) {
		uint8_t cell[INNER_CELL];
		uint8_t *end = put_varint(put_big(cell, child[i].page, 4),
			(uint64_t)child[i].key);

		start -= (uint32_t)(end - cell);
		memcpy(page + start, cell, (size_t)(end - cell));
		put_big(page + INNER_HEADER + 2 * i, start, 2);
	}
	put_big(page + 3, n - 1, 2);
	put_big(page + 5, start, 2);
	put_big(page + 8, child[n - 1].page, 4);
}

/* A page above each group of them, as many in each. */
static void put_level(struct tree *t)
{
	size_t groups = (t->n + MOST_CHILDREN - 1) / MOST_CHILDREN;
	uint8_t page[PAGE];

	for (size_t i = 0; i < groups; i++) {
		size_t first = t->n * i / groups, end = t->n * (i + 1) / groups;
		struct tree_child above = { pages_next(t->pages),
			t->child[end - 1].key };

		make_inner(page, &t->child[first], end - first);
		pages_put(t->pages, above.page, page);
		t->child[i] = above;
	}
	t->n = groups;
}

/* The file has all of its pages before one of them is referred to. */
static void claim(struct pages *p)
{
	if (p->file < 0)
		return;
	put_size(p->head, p->n, get_big(p->head + 24, 4) + 1);
	put_bytes(p, 0, p->head, PAGES_HEAD);
}

/* On the first page the file's head comes before; offsets of cells are from the
 * start of the page. */
static void put_root(struct tree *t, uint8_t *page, size_t used)
{
	memmove(page + t->head, page, used);
	memset(page, 0, t->head);
	claim(t->pages);
	pages_put(t->pages, t->root, page);
}

void tree_init(struct tree *t, struct pages *p, uint32_t root)
{
	*t = (struct tree){
		.pages = p,
		.root = root,
		.head = root == 1 ? PAGES_HEAD : 0,
	};
	start_leaf(t);
}

void tree_end(struct tree *t)
{
	if (t->n) {
		put_leaf(t);
		while (t->n > MOST_CHILDREN)
			put_level(t);
		make_inner(t->leaf, t->child, t->n);
		put_root(t, t->leaf, INNER_HEADER + 2 * t->n);
	} else {
		end_leaf(t);
		put_root(t, t->leaf, LEAF_HEADER + 2 * t->n_cells);
	}
	mem_free(t->child);
}
