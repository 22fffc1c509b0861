/*
 * PDF and PNG, by the cairo library.  The library is opened when a picture is
 * drawn; weft needs it neither to build nor to start.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "out/canvas.h"

#define LIBRARY "libcairo.so.2"

/* A column of text is 3.5 inches wide. */
#define POINTS (72 * 3.5 / CANVAS_WIDTH)
#define PIXELS (300 * 3.5 / CANVAS_WIDTH)

enum { RGB24 = 1, WEIGHT_NORMAL = 0, SLANT_NORMAL = 0, SUCCESS = 0 };

struct extents {
	double x_bearing, y_bearing, width, height, x_advance, y_advance;
};

typedef int write_call(void *arg, const unsigned char *bytes, unsigned n);

/* Functions of the library. */
#define CALLS(CALL)                                                            \
	CALL(void *, pdf_surface_create_for_stream,                            \
		(write_call *, void *, double, double))                        \
	CALL(void *, image_surface_create, (int, int, int))                    \
	CALL(int, surface_write_to_png_stream, (void *, write_call *, void *)) \
	CALL(void, surface_finish, (void *))                                   \
	CALL(int, surface_status, (void *))                                    \
	CALL(void, surface_destroy, (void *))                                  \
	CALL(void *, create, (void *))                                         \
	CALL(void, destroy, (void *))                                          \
	CALL(void, scale, (void *, double, double))                            \
	CALL(void, save, (void *))                                             \
	CALL(void, restore, (void *))                                          \
	CALL(void, translate, (void *, double, double))                        \
	CALL(void, rotate, (void *, double))                                   \
	CALL(void, paint, (void *))                                            \
	CALL(void, set_source_rgba, (void *, double, double, double, double))  \
	CALL(void, set_line_width, (void *, double))                           \
	CALL(void, set_dash, (void *, const double *, int, double))            \
	CALL(void, move_to, (void *, double, double))                          \
	CALL(void, line_to, (void *, double, double))                          \
	CALL(void, new_path, (void *))                                         \
	CALL(void, close_path, (void *))                                       \
	CALL(void, arc, (void *, double, double, double, double, double))      \
	CALL(void, fill_preserve, (void *))                                    \
	CALL(void, stroke, (void *))                                           \
	CALL(void, select_font_face, (void *, const char *, int, int))         \
	CALL(void, set_font_size, (void *, double))                            \
	CALL(void, text_extents, (void *, const char *, struct extents *))     \
	CALL(void, show_text, (void *, const char *))                          \
	CALL(void, debug_reset_static_data, (void))

#define MEMBER(type, name, arguments) type(*name) arguments;
#define NAME(type, name, arguments)   "cairo_" #name,

struct calls {
	CALLS(MEMBER)
};

static const char *const names[] = { CALLS(NAME) };

struct sheet {
	struct calls call;
	void *library, *surface, *cairo;
};

/* Function pointers are stored as objects, which POSIX allows. */
static int find_calls(struct sheet *s)
{
	void *found;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		found = dlsym(s->library, names[i]);
		if (!found)
			return -1;
		memcpy((char *)&s->call + i * sizeof(found), &found,
			sizeof(found));
	}
	return 0;
}

static int write_bytes(void *arg, const unsigned char *bytes, unsigned n)
{
	enum { WRITE_ERROR = 11 };

	return fwrite(bytes, 1, n, arg) == n ? SUCCESS : WRITE_ERROR;
}

static void set_colour(struct sheet *s, const char *colour, double opacity)
{
	unsigned long rgb = strtoul(colour + 1, NULL, 16);

	s->call.set_source_rgba(s->cairo, (double)(rgb >> 16 & 255) / 255,
		(double)(rgb >> 8 & 255) / 255, (double)(rgb & 255) / 255,
		opacity);
}

static int open_library(struct canvas *c, struct err *e)
{
	struct sheet *s = mem_alloc(1, sizeof(*s));

	s->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (s->library && !find_calls(s)) {
		c->state = s;
		return 0;
	}
	if (s->library)
		dlclose(s->library);
	mem_free(s);
	return err_set(e,
		"a .%s picture needs the cairo library (" LIBRARY
		"); install it (Debian: libcairo2), or draw an .svg",
		c->format->ending);
}

static void begin_sheet(struct sheet *s, double scale)
{
	s->cairo = s->call.create(s->surface);
	s->call.scale(s->cairo, scale, scale);
	set_colour(s, "#ffffff", 1);
	s->call.paint(s->cairo);
	s->call.select_font_face(
		s->cairo, "sans-serif", SLANT_NORMAL, WEIGHT_NORMAL);
	s->call.set_font_size(s->cairo, CANVAS_LETTER);
}

static int pdf_begin(struct canvas *c, struct err *e)
{
	struct sheet *s;

	if (open_library(c, e))
		return -1;
	s = c->state;
	s->surface = s->call.pdf_surface_create_for_stream(write_bytes,
		c->stream, POINTS * CANVAS_WIDTH, POINTS * c->height);
	begin_sheet(s, POINTS);
	return 0;
}

static int png_begin(struct canvas *c, struct err *e)
{
	struct sheet *s;

	if (open_library(c, e))
		return -1;
	s = c->state;
	s->surface = s->call.image_surface_create(
		RGB24, (int)(PIXELS * CANVAS_WIDTH), (int)(PIXELS * c->height));
	begin_sheet(s, PIXELS);
	return 0;
}

/* Paints the current path. */
static void paint_path(struct sheet *s, const struct canvas_style *style)
{
	const double dashes[] = { canvas_dash(style->dashes), CANVAS_GAP };

	if (style->fill) {
		set_colour(s, style->fill, style->opacity);
		s->call.fill_preserve(s->cairo);
	}
	if (style->stroke) {
		set_colour(s, style->stroke, 1);
		s->call.set_line_width(s->cairo, style->width);
		s->call.set_dash(s->cairo, dashes, style->dashes ? 2 : 0, 0);
		s->call.stroke(s->cairo);
	}
	s->call.new_path(s->cairo);
}

static void draw_path(struct canvas *c, const struct canvas_style *style,
	const struct canvas_point *p, size_t n)
{
	struct sheet *s = c->state;

	for (size_t i = 0; i < n; i++)
		if (i)
			s->call.line_to(s->cairo, p[i].x, p[i].y);
		else
			s->call.move_to(s->cairo, p[i].x, p[i].y);
	if (style->fill)
		s->call.close_path(s->cairo);
	paint_path(s, style);
}

static void draw_dot(struct canvas *c, const struct canvas_style *style,
	double x, double y, double radius)
{
	struct sheet *s = c->state;

	s->call.arc(s->cairo, x, y, radius, 0, 6.283185307179586);
	paint_path(s, style);
}

/* Cairo draws nothing more after a byte that is not UTF-8. */
static char *clean(const char *text)
{
	char *copy = mem_text(text);

	name_clean(copy, "");
	return copy;
}

static void draw_text(struct canvas *c, double x, double y,
	enum canvas_align align, bool is_upright, const char *text)
{
	static const double before[] = { 0, 0.5, 1 };
	struct sheet *s = c->state;
	struct extents size;
	char *copy = clean(text);

	s->call.text_extents(s->cairo, copy, &size);
	s->call.save(s->cairo);
	s->call.translate(s->cairo, x, y);
	if (is_upright)
		s->call.rotate(s->cairo, -1.5707963267948966);
	set_colour(s, "#000000", 1);
	s->call.move_to(s->cairo, -before[align] * size.x_advance, 0);
	s->call.show_text(s->cairo, copy);
	s->call.restore(s->cairo);
	s->call.new_path(s->cairo);
	mem_free(copy);
}

/* What cairo, and fontconfig below it, keep of fonts. */
static void forget_fonts(struct sheet *s)
{
	void (*finish)(void);
	void *found = dlsym(s->library, "FcFini");

	s->call.debug_reset_static_data();
	if (!found)
		return;
	memcpy(&finish, &found, sizeof(finish));
	finish();
}

/* The library stays open: fontconfig does not survive being unloaded. */
static void close_sheet(struct canvas *c, int status, struct err *e)
{
	struct sheet *s = c->state;

	if (status == SUCCESS)
		status = s->call.surface_status(s->surface);
	if (status != SUCCESS)
		err_set(e,
			"the picture cannot be drawn: cairo reports "
			"error %d",
			status);
	s->call.surface_destroy(s->surface);
	forget_fonts(s);
	mem_free(s);
}

static void pdf_end(struct canvas *c, struct err *e)
{
	struct sheet *s = c->state;

	s->call.destroy(s->cairo);
	s->call.surface_finish(s->surface);
	close_sheet(c, SUCCESS, e);
}

static void png_end(struct canvas *c, struct err *e)
{
	struct sheet *s = c->state;

	s->call.destroy(s->cairo);
	close_sheet(c,
		s->call.surface_write_to_png_stream(
			s->surface, write_bytes, c->stream),
		e);
}

const struct canvas_format canvas_pdf = {
	.ending = "pdf",
	.file = &out_pdf,
	.begin = pdf_begin,
	.path = draw_path,
	.dot = draw_dot,
	.text = draw_text,
	.end = pdf_end,
};

const struct canvas_format canvas_png = {
	.ending = "png",
	.file = &out_png,
	.begin = png_begin,
	.path = draw_path,
	.dot = draw_dot,
	.text = draw_text,
	.end = png_end,
};
