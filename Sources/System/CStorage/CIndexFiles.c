#define _GNU_SOURCE
#include "CIndexFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A journal longer than this is written in pieces.
enum { CAPACITY = 1 << 20 };
// What a journal begins with is at least so long; what makes it void is shorter.
enum { SHORTEST_HEADER = 512 };

// The open journal of a database. It stands behind SQLite's own file, all of whose methods it has but for three.
typedef struct {
    sqlite3_file *file;
    const sqlite3_io_methods *own;
    sqlite3_io_methods methods;
    int journal;  // A descriptor that stays open from one transaction to the next, or -1.
    int is_writable;
    dev_t device;
    ino_t inode;
    // What is to be written at the beginning of the journal before the database is changed.
    char *pending;
    size_t length, room;
} Database;

// The journal as SQLite has it open.
typedef struct {
    sqlite3_file base;
    Database *database;
} Journal;

static sqlite3_vfs *usual;

static size_t own_size(void) {
    size_t unit = _Alignof(Database);
    return ((size_t)usual->szOsFile + unit - 1) / unit * unit;
}

static Database *database_of(sqlite3_file *file) { return (Database *)((char *)file + own_size()); }

// MARK: The journal

static int write_whole(int file, const char *bytes, size_t count, off_t offset) {
    while (count > 0) {
        ssize_t put = pwrite(file, bytes, count, offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put < 0 && errno != ENOSPC ? SQLITE_IOERR_WRITE : SQLITE_FULL;
        bytes += put;
        count -= (size_t)put;
        offset += put;
    }
    return SQLITE_OK;
}

static int flush(Database *database) {
    size_t length = database->length;
    database->length = 0;
    return write_whole(database->journal, database->pending, length, 0);
}

static int collect(Database *database, const void *bytes, size_t count) {
    size_t length = database->length + count;
    if (length > database->room) {
        size_t room = database->room ? database->room : 32768;
        while (room < length) room *= 2;
        char *pending = realloc(database->pending, room);
        if (!pending) return SQLITE_NOMEM;
        database->pending = pending;
        database->room = room;
    }
    memcpy(database->pending + database->length, bytes, count);
    database->length = length;
    return SQLITE_OK;
}

static int journal_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    Database *database = ((Journal *)file)->database;
    int begins = offset == 0 && count >= SHORTEST_HEADER;
    int continues = database->length > 0 && offset == (sqlite3_int64)database->length
        && database->length + (size_t)count <= CAPACITY;
    if (begins) database->length = 0;
    if (begins || continues) return collect(database, bytes, (size_t)count);
    int result = flush(database);
    if (result != SQLITE_OK) return result;
    return write_whole(database->journal, bytes, (size_t)count, offset);
}

static int journal_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    Database *database = ((Journal *)file)->database;
    int result = flush(database);
    if (result != SQLITE_OK) return result;
    int got = 0;
    while (got < count) {
        ssize_t more = pread(database->journal, (char *)bytes + got, (size_t)(count - got), offset + got);
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return SQLITE_IOERR_READ;
        if (more == 0) {
            memset((char *)bytes + got, 0, (size_t)(count - got));
            return SQLITE_IOERR_SHORT_READ;
        }
        got += more;
    }
    return SQLITE_OK;
}

static int journal_truncate(sqlite3_file *file, sqlite3_int64 size) {
    Database *database = ((Journal *)file)->database;
    int result = flush(database);
    if (result != SQLITE_OK) return result;
    return ftruncate(database->journal, size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int journal_sync(sqlite3_file *file, int flags) {
    (void)flags;
    Database *database = ((Journal *)file)->database;
    int result = flush(database);
    if (result != SQLITE_OK) return result;
    return fsync(database->journal) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int journal_size(sqlite3_file *file, sqlite3_int64 *size) {
    Database *database = ((Journal *)file)->database;
    int result = flush(database);
    if (result != SQLITE_OK) return result;
    struct stat info;
    if (fstat(database->journal, &info) != 0) return SQLITE_IOERR_FSTAT;
    *size = info.st_size;
    return SQLITE_OK;
}

// Closing leaves the file open for the next transaction. What is not written yet belongs to one that
// has changed nothing.
static int journal_close(sqlite3_file *file) {
    ((Journal *)file)->database->length = 0;
    file->pMethods = NULL;
    return SQLITE_OK;
}

static int journal_control(sqlite3_file *file, int operation, void *argument) {
    (void)file, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int journal_sector(sqlite3_file *file) {
    Database *database = ((Journal *)file)->database;
    return database->own->xSectorSize(database->file);
}

static int journal_characteristics(sqlite3_file *file) {
    Database *database = ((Journal *)file)->database;
    return database->own->xDeviceCharacteristics(database->file);
}

// Nobody locks a journal.
static int journal_lock(sqlite3_file *file, int lock) {
    (void)file, (void)lock;
    return SQLITE_OK;
}

static int journal_is_reserved(sqlite3_file *file, int *result) {
    (void)file;
    *result = 0;
    return SQLITE_OK;
}

static const sqlite3_io_methods journal_methods = {
    .iVersion = 1,
    .xClose = journal_close,
    .xRead = journal_read,
    .xWrite = journal_write,
    .xTruncate = journal_truncate,
    .xSync = journal_sync,
    .xFileSize = journal_size,
    .xLock = journal_lock,
    .xUnlock = journal_lock,
    .xCheckReservedLock = journal_is_reserved,
    .xFileControl = journal_control,
    .xSectorSize = journal_sector,
    .xDeviceCharacteristics = journal_characteristics,
};

static void drop_journal(Database *database) {
    if (database->journal >= 0) close(database->journal);
    database->journal = -1;
    database->length = 0;
}

static int open_journal(const char *path, Journal *journal, int flags, int *given) {
    Database *database = database_of(sqlite3_database_file_object(path));
    struct stat info;
    int writes = flags & SQLITE_OPEN_READWRITE;
    int is_open = database->journal >= 0 && (database->is_writable || !writes)
        && lstat(path, &info) == 0 && info.st_dev == database->device
        && info.st_ino == database->inode;
    if (!is_open) {
        drop_journal(database);
        int mode = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        int creates = flags & SQLITE_OPEN_CREATE ? O_CREAT : 0;
        database->is_writable = 1;
        int file = open(path, O_RDWR | mode | creates, 0600);
        if (file < 0 && !writes) {
            database->is_writable = 0;
            file = open(path, O_RDONLY | mode);
        }
        if (file < 0) return SQLITE_CANTOPEN;
        if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
            close(file);
            return SQLITE_CANTOPEN;
        }
        database->journal = file;
        database->device = info.st_dev;
        database->inode = info.st_ino;
    }
    journal->database = database;
    journal->base.pMethods = &journal_methods;
    if (given) *given = flags;
    return SQLITE_OK;
}

// MARK: The database

static int database_close(sqlite3_file *file) {
    Database *database = database_of(file);
    drop_journal(database);
    free(database->pending);
    database->pending = NULL;
    file->pMethods = database->own;
    return database->own->xClose(file);
}

// The journal has to be in its file before the database is changed.
static int database_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    Database *database = database_of(file);
    int result = flush(database);
    if (result != SQLITE_OK) return result;
    return database->own->xWrite(file, bytes, count, offset);
}

static int database_truncate(sqlite3_file *file, sqlite3_int64 size) {
    Database *database = database_of(file);
    int result = flush(database);
    if (result != SQLITE_OK) return result;
    return database->own->xTruncate(file, size);
}

static int open_database(const char *path, sqlite3_file *file, int flags, int *given) {
    Database *database = database_of(file);
    *database = (Database){.file = file, .journal = -1};
    int result = usual->xOpen(usual, path, file, flags, given);
    if (!file->pMethods) return result;
    database->own = file->pMethods;
    database->methods = *file->pMethods;
    // Without memory maps. A database of others may have a write-ahead log, which is of the second version.
    if (database->methods.iVersion > 2) database->methods.iVersion = 2;
    database->methods.xClose = database_close;
    database->methods.xWrite = database_write;
    database->methods.xTruncate = database_truncate;
    file->pMethods = &database->methods;
    return result;
}

// MARK: The VFS

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *given) {
    (void)vfs;
    file->pMethods = NULL;
    if (flags & SQLITE_OPEN_MAIN_JOURNAL) return open_journal(path, (Journal *)file, flags, given);
    if (flags & SQLITE_OPEN_MAIN_DB) return open_database(path, file, flags, given);
    // Others are not of interest here.
    return usual->xOpen(usual, path, file, flags, given);
}

static const char name[] = "halcyon-index";
static int is_registered;

static void make_known(void) {
    static sqlite3_vfs vfs;
    usual = sqlite3_vfs_find(NULL);
    if (!usual || usual->iVersion < 1) return;
    vfs = *usual;
    vfs.zName = name;
    vfs.pNext = NULL;
    vfs.xOpen = open_file;
    vfs.szOsFile = (int)(own_size() + sizeof(Database));
    is_registered = sqlite3_compileoption_used("USE_URI") && sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *halcyon_index_vfs(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_known);
    return is_registered ? name : NULL;
}

// MARK: Limits of statements

enum { steps_between_looks = 100000, most_looks = 500 };

// A statement runs on one thread from its beginning to its end.
static _Thread_local int looks;

static int statement_begins(unsigned kind, void *context, void *statement, void *text) {
    (void)kind, (void)context, (void)statement;
    // This is called for the triggers of a statement, too, with a comment as the text.
    const char *sql = text;
    if (!sql || sql[0] != '-' || sql[1] != '-') looks = 0;
    return 0;
}

static int statement_goes_on(void *context) {
    (void)context;
    return ++looks > most_looks;
}

void halcyon_index_limit_steps(void *connection) {
    sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, statement_begins, NULL);
    sqlite3_progress_handler(connection, steps_between_looks, statement_goes_on, NULL);
}
