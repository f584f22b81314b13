// Tells ThreadSanitizer what Swift's `Mutex` orders.
//
// The contended paths of `Mutex` are in libswiftSynchronization, which is not compiled for the
// sanitizer and waits with bare futex calls: without this, whatever a contended mutex protects is
// reported as a race. Preloaded, these three stand before the library's own and add the missing
// acquire and release. In a process without the sanitizer they only pass the call on.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Mangled names: Synchronization._MutexHandle._lockSlow(UInt32), _tryLockSlow(), _unlockSlow().
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void Lock(uint32_t thread, SELF void *handle);
typedef SWIFT _Bool TryLock(SELF void *handle);
typedef SWIFT void Unlock(SELF void *handle);

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

Lock lock_slow __asm__(LOCK);
TryLock try_lock_slow __asm__(TRY_LOCK);
Unlock unlock_slow __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF void *handle) {
    ((Lock *)dlsym(RTLD_NEXT, LOCK))(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT _Bool try_lock_slow(SELF void *handle) {
    _Bool locked = ((TryLock *)dlsym(RTLD_NEXT, TRY_LOCK))(handle);
    if (locked && __tsan_acquire) __tsan_acquire(handle);
    return locked;
}

SWIFT void unlock_slow(SELF void *handle) {
    if (__tsan_release) __tsan_release(handle);
    ((Unlock *)dlsym(RTLD_NEXT, UNLOCK))(handle);
}
