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

static int split(struct fields *f)
{
	char *at = f->lines.text, *next;

	for (f->n = 0; at && f->n < FIELDS_MOST; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		f->field[f->n++] = fields_trim(at);
	}
	return at ? fields_wrong(f, "too many columns", NULL) : 1;
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
		text = f->lines.text;
		text[strcspn(text, "#")] = '\0';
		if (*fields_trim(text))
			return split(f);
	}
	if (ferror(f->lines.file))
		return err_set(
			f->e, "%s: cannot read: %s", f->path, strerror(errno));
	return 0;
}
