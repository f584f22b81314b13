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

// The database, which hands everything on to SQLite's own file, and has the open journal.
typedef struct {
    sqlite3_file base;
    int journal;  // A descriptor that stays open from one transaction to the next, or -1.
    int is_writable;
    dev_t device;
    ino_t inode;
    // What is to be written at the beginning of the journal before the database is changed.
    char *pending;
    size_t length, room;
    sqlite3_file *own;
} Database;

// The journal as SQLite has it open.
typedef struct {
    sqlite3_file base;
    Database *database;
} Journal;

static sqlite3_vfs *usual;

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
    sqlite3_file *own = ((Journal *)file)->database->own;
    return own->pMethods->xSectorSize(own);
}

static int journal_characteristics(sqlite3_file *file) {
    sqlite3_file *own = ((Journal *)file)->database->own;
    return own->pMethods->xDeviceCharacteristics(own);
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
    Database *database = (Database *)sqlite3_database_file_object(path);
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

static sqlite3_file *own(sqlite3_file *file) { return ((Database *)file)->own; }

static int database_close(sqlite3_file *file) {
    Database *database = (Database *)file;
    drop_journal(database);
    free(database->pending);
    database->pending = NULL;
    file->pMethods = NULL;
    return database->own->pMethods->xClose(database->own);
}

static int database_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return own(file)->pMethods->xRead(own(file), bytes, count, offset);
}

// The journal has to be in its file before the database is changed.
static int database_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    Database *database = (Database *)file;
    if (database->length > 0) {
        int result = flush(database);
        if (result != SQLITE_OK) return result;
    }
    return own(file)->pMethods->xWrite(own(file), bytes, count, offset);
}

static int database_truncate(sqlite3_file *file, sqlite3_int64 size) {
    Database *database = (Database *)file;
    if (database->length > 0) {
        int result = flush(database);
        if (result != SQLITE_OK) return result;
    }
    return own(file)->pMethods->xTruncate(own(file), size);
}

static int database_sync(sqlite3_file *file, int flags) {
    return own(file)->pMethods->xSync(own(file), flags);
}

static int database_size(sqlite3_file *file, sqlite3_int64 *size) {
    return own(file)->pMethods->xFileSize(own(file), size);
}

static int database_lock(sqlite3_file *file, int lock) {
    return own(file)->pMethods->xLock(own(file), lock);
}

static int database_unlock(sqlite3_file *file, int lock) {
    return own(file)->pMethods->xUnlock(own(file), lock);
}

static int database_is_reserved(sqlite3_file *file, int *result) {
    return own(file)->pMethods->xCheckReservedLock(own(file), result);
}

static int database_control(sqlite3_file *file, int operation, void *argument) {
    return own(file)->pMethods->xFileControl(own(file), operation, argument);
}

static int database_sector(sqlite3_file *file) {
    return own(file)->pMethods->xSectorSize(own(file));
}

static int database_characteristics(sqlite3_file *file) {
    return own(file)->pMethods->xDeviceCharacteristics(own(file));
}

// A database of others may have a write-ahead log.
static int database_shm_map(sqlite3_file *file, int page, int size, int extends, void volatile **map) {
    return own(file)->pMethods->xShmMap(own(file), page, size, extends, map);
}

static int database_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return own(file)->pMethods->xShmLock(own(file), offset, count, flags);
}

static void database_shm_barrier(sqlite3_file *file) {
    own(file)->pMethods->xShmBarrier(own(file));
}

static int database_shm_unmap(sqlite3_file *file, int removes) {
    return own(file)->pMethods->xShmUnmap(own(file), removes);
}

static const sqlite3_io_methods database_methods = {
    .iVersion = 2,
    .xClose = database_close,
    .xRead = database_read,
    .xWrite = database_write,
    .xTruncate = database_truncate,
    .xSync = database_sync,
    .xFileSize = database_size,
    .xLock = database_lock,
    .xUnlock = database_unlock,
    .xCheckReservedLock = database_is_reserved,
    .xFileControl = database_control,
    .xSectorSize = database_sector,
    .xDeviceCharacteristics = database_characteristics,
    .xShmMap = database_shm_map,
    .xShmLock = database_shm_lock,
    .xShmBarrier = database_shm_barrier,
    .xShmUnmap = database_shm_unmap,
};

static int open_database(const char *path, Database *database, int flags, int *given) {
    database->own = (sqlite3_file *)(database + 1);
    database->journal = -1;
    database->pending = NULL;
    database->length = database->room = 0;
    int result = usual->xOpen(usual, path, database->own, flags, given);
    database->base.pMethods = database->own->pMethods ? &database_methods : NULL;
    return result;
}

// MARK: The VFS

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *given) {
    (void)vfs;
    file->pMethods = NULL;
    if (flags & SQLITE_OPEN_MAIN_JOURNAL) return open_journal(path, (Journal *)file, flags, given);
    if (flags & SQLITE_OPEN_MAIN_DB) return open_database(path, (Database *)file, flags, given);
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
    vfs.szOsFile = (int)sizeof(Database) + usual->szOsFile;
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
