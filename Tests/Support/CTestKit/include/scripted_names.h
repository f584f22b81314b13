#ifndef SCRIPTED_NAMES_H
#define SCRIPTED_NAMES_H

/// Has getaddrinfo() of this program answer for `name` with what `answers` says: addresses with spaces
/// between them, and `|` between one answer and the next. The last answer is given again and again.
///
/// Whoever links this has a getaddrinfo() of its own, also for libraries; other names are asked of the
/// system. For tests: at most 16 names.
void scripted_names_set(const char *name, const char *answers);

/// How often `name` has been asked for.
int scripted_names_count(const char *name);

#endif
