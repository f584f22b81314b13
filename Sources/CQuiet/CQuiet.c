#define _GNU_SOURCE
#include "CQuiet.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A shared library finds the variable `stderr` of the C library by an entry in a table of its own. That
   entry is given the address of another variable, which holds a stream to /dev/null. */

static FILE *nowhere;

struct search {
    const char *library;
    int found;
};

/* The kind of relocation that fills such an entry. */
#if defined(__x86_64__)
enum { kind = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { kind = R_AARCH64_GLOB_DAT };
#else
enum { kind = -1 };
#endif

static int has_name(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    return strncmp(file, name, strlen(name)) == 0;
}

/* Addresses in a dynamic section are relocated by glibc, or not, depending on the architecture. */
static ElfW(Addr) address(const struct dl_phdr_info *info, ElfW(Addr) value) {
    return value < info->dlpi_addr ? value + info->dlpi_addr : value;
}

/* Whether an address lies in what becomes read-only once the library is loaded. */
static int is_protected(const struct dl_phdr_info *info, ElfW(Addr) place) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = info->dlpi_phdr + i;
        ElfW(Addr) start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_RELRO && place >= start && place < start + header->p_memsz)
            return 1;
    }
    return 0;
}

static int point_elsewhere(const struct dl_phdr_info *info, ElfW(Addr) place) {
    FILE ***entry = (FILE ***)place;
    if (*entry == &nowhere) return 1;
    if (!is_protected(info, place)) {
        *entry = &nowhere;
        return 1;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)(place & ~(ElfW(Addr))(page - 1));
    if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return 0;
    *entry = &nowhere;
    mprotect(start, page, PROT_READ);
    return 1;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct search *search = data;
    if (!info->dlpi_name || !has_name(info->dlpi_name, search->library)) return 0;
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    if (!dynamic) return 0;
    const ElfW(Rela) *relocations = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t bytes = 0;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_RELA: relocations = (const void *)address(info, entry->d_un.d_ptr); break;
        case DT_RELASZ: bytes = entry->d_un.d_val; break;
        case DT_SYMTAB: symbols = (const void *)address(info, entry->d_un.d_ptr); break;
        case DT_STRTAB: names = (const void *)address(info, entry->d_un.d_ptr); break;
        default: break;
        }
    }
    if (!relocations || !symbols || !names) return 0;
    for (size_t i = 0; i < bytes / sizeof *relocations; i++) {
        if ((int)ELF64_R_TYPE(relocations[i].r_info) != kind) continue;
        const ElfW(Sym) *symbol = symbols + ELF64_R_SYM(relocations[i].r_info);
        if (strcmp(names + symbol->st_name, "stderr") == 0)
            search->found |= point_elsewhere(info, info->dlpi_addr + relocations[i].r_offset);
    }
    return 0;
}

int cquiet_silence(const char *library) {
    static int is_being_opened;
    FILE *stream = __atomic_load_n(&nowhere, __ATOMIC_ACQUIRE);
    if (!stream && __atomic_exchange_n(&is_being_opened, 1, __ATOMIC_ACQ_REL) == 0) {
        stream = fopen("/dev/null", "we");
        __atomic_store_n(&nowhere, stream, __ATOMIC_RELEASE);
        if (!stream) __atomic_store_n(&is_being_opened, 0, __ATOMIC_RELEASE);
    }
    if (!stream) return 0;
    struct search search = {library, 0};
    dl_iterate_phdr(visit, &search);
    return search.found;
}
