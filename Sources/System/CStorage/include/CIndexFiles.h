// How SQLite reaches the files of the index: as ever, but for the journal.

#ifndef HALCYON_CINDEXFILES_H
#define HALCYON_CINDEXFILES_H

/// Makes the VFS known to SQLite, once for the process, and returns its name, to be given in the URI of
/// a database; NULL when SQLite cannot do with it.
///
/// SQLite writes each page that a transaction is going to change to the journal with three calls, and
/// opens and closes the journal twice for each transaction. This VFS collects the journal in memory,
/// writes it with one call before the first change of the database, and keeps it open. What is in the
/// files at the moment a process is killed is no other than with the usual VFS.
const char *halcyon_index_vfs(void);

/// Has statements of a connection (a `sqlite3 *`) fail with SQLITE_INTERRUPT that take far more steps than any
/// of ours: for a database with triggers that are not ours, which run with our statements.
void halcyon_index_limit_steps(void *connection);

#endif
