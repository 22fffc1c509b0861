#include "base/fields.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

int fields_open(struct fields *f, const char *path, struct err *e)
{
	*f = (struct fields){ .path = path, .e = e };
	f->lines.file = fopen(path, "r");
	if (!f->lines.file)
		return err_set(e, "%s: cannot read: %s", path, strerror(errno));
	return 0;
}

void fields_close(struct fields *f)
{
	fclose(f->lines.file);
	lines_fini(&f->lines);
}

/* A text that is quoted has no signs that would end the line. */
int fields_wrong(struct fields *f, const char *what, const char *text)
{
	char quoted[48];

	snprintf(quoted, sizeof(quoted), "%.40s", text ? text : "");
	for (char *at = quoted; *at; at++)
		if (!isprint((unsigned char)*at))
			*at = '?';
	return err_set(f->e, "%s:%u: %s%s%s%s", f->path, f->line, what,
		text ? " \"" : "", quoted, text ? "\"" : "");
}

char *fields_trim(char *s)
{
	s += strspn(s, " \t\r\n");
	for (char *end = s + strlen(s);
		end > s && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	return s;
}

/*
 * Ends a field in quotes, as spreadsheets write them, and returns what follows
 * it: a comma, or the end.  NULL: it has no end, or more than that follows.
 */
static char *end_of_quoted(char *field)
{
	char *end = strchr(field + 1, '"');

	if (!end)
		return NULL;
	*end++ = '\0';
	end += strspn(end, " \t\r\n");
	return *end && *end != ',' ? NULL : end;
}

static int split(struct fields *f, char *at)
{
	char *next;

	for (f->n = 0; at && f->n < FIELDS_MOST; at = next) {
		at += strspn(at, " \t");
		next = *at == '"' ? end_of_quoted(at) : at + strcspn(at, ",");
		if (!next)
			return fields_wrong(f,
				"a text in quotes is not one column:", at + 1);
		f->field[f->n++] = at + (*at == '"');
		next = *next ? next : NULL;
		if (next)
			*next++ = '\0';
	}
	for (uint32_t i = 0; i < f->n; i++)
		f->field[i] = fields_trim(f->field[i]);
	return at ? fields_wrong(f, "too many columns", NULL) : 1;
}

/* The line without the mark that spreadsheets put at the start of UTF-8. */
static char *unmarked(struct fields *f)
{
	char *text = f->lines.text;

	return f->line == 1 && !strncmp(text, "\xef\xbb\xbf", 3) ? text + 3
								 : text;
}

int fields_next(struct fields *f)
{
	enum readline got;
	char *text;

	while ((got = readline(&f->lines)) != READLINE_END) {
		f->line++;
		if (got != READLINE_ONE)
			return fields_wrong(f,
				got == READLINE_NO_TEXT
					? "is not text"
					: "the line is longer than 1 MiB",
				NULL);
		text = unmarked(f);
		text[strcspn(text, "#")] = '\0';
		if (*fields_trim(text))
			return split(f, text);
	}
	if (ferror(f->lines.file))
		return err_set(
			f->e, "%s: cannot read: %s", f->path, strerror(errno));
	return 0;
}
