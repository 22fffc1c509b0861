/*
 * Numbers are read and written with a point, whatever locale a program has
 * chosen: each thread that does so uses the C locale, and nobody else's is
 * touched.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

/* This thread uses the C locale from now on; returns the one before. */
void *plain_begin(void);
void plain_end(void *before);

#endif
