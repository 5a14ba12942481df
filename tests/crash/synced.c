/* Notes of each file how long it was when it was last synced: what is beyond that a power cut may lose. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int synced(int fd, const char *name) {
    static int notes = -1;
    int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    struct stat before;
    /* What is written while the sync runs may miss it. */
    int known = fstat(fd, &before) == 0 && S_ISREG(before.st_mode);
    int result = sync(fd);
    if (known && result == 0) {
        if (notes < 0) {
            notes = open(getenv("WATS_SYNCED"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        }
        dprintf(notes, "%lu %ld\n", (unsigned long)before.st_ino, (long)before.st_size);
    }
    return result;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }
