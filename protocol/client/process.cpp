#include "protocol/client/process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

namespace next_id::client {
namespace {

using Word = std::atomic<std::uint64_t>;

std::atomic<Word*> the_word = nullptr;
std::atomic<std::uint64_t> numbers_given = 0;  // copied into children, which so go on where their parent was

// Without help of the kernel: what is shown is always 0, so that everyone asks for the number, which has the pid in it.
Word shown_without_help = 0, number_without_help = 0;

// The kernel empties a page in each child, however that was made (clone() does not call what pthread_atfork()
// registers). It does not before Linux 4.14, nor under QEMU's user mode before 8.0, which takes any advice and follows
// none. There the pid tells; but a child in a namespace of its own may have its parent's, so fork() is asked too.
Word* make_word() {
    constexpr int no_advice = -1;
    const auto size = std::size_t(sysconf(_SC_PAGESIZE));
    void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) == 0 && madvise(page, size, no_advice) != 0)
        return new (page) Word{0};
    if (page != MAP_FAILED) munmap(page, size);
    pthread_atfork(nullptr, nullptr, [] { number_without_help.store(0, std::memory_order_relaxed); });
    return &shown_without_help;
}

// Without a lock, which a child could inherit locked. Two threads that come at once leave a page behind.
Word& word() {
    Word* known = the_word.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    Word* const made = make_word();
    return the_word.compare_exchange_strong(known, made, std::memory_order_acq_rel) ? *made : *known;
}

}  // namespace

const std::atomic<std::uint64_t>& process_word() {
    return word();
}

std::uint64_t process_number() {
    Word& shown = word();
    const bool helped = &shown != &shown_without_help;
    Word& here = helped ? shown : number_without_help;
    const std::uint64_t pid = helped ? 0 : std::uint32_t(syscall(SYS_getpid));  // old C libraries keep getpid()'s
    std::uint64_t number = here.load(std::memory_order_relaxed);
    if (number != 0 && std::uint32_t(number) == pid) return number;
    const std::uint64_t mine = (numbers_given.fetch_add(1, std::memory_order_relaxed) + 1) << 32 | pid;
    return here.compare_exchange_strong(number, mine, std::memory_order_relaxed) ? mine : number;
}

}  // namespace next_id::client
