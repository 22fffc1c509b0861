/*
 * Numbers are read and written with a decimal point, whatever the program's
 * locale: a thread that does so switches itself, and no other, to the C locale.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

/* This thread uses the C locale from now on; returns the one before. */
void *plain_begin(void);
void plain_end(void *before);

#endif
