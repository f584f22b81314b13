#ifndef SCRIPTED_NAMES_H
#define SCRIPTED_NAMES_H

/// Scripts the answers of this program's getaddrinfo() for `name`: `answers` is a list separated by
/// `|`, each with addresses separated by spaces. The last answer is repeated.
///
/// A program that links this gets its own getaddrinfo(), also for libraries; other names are
/// resolved by the system. For tests: at most 16 names.
void scripted_names_set(const char *name, const char *answers);

/// Returns the number of lookups of `name`.
int scripted_names_count(const char *name);

#endif
