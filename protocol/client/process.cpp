#include "protocol/client/process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace next_id::client {
namespace {

using Word = std::atomic<std::uint64_t>;

std::atomic<Word*> the_word = nullptr;
std::atomic<std::uint64_t> numbers_given = 0;  // copied into children, which so go on where their parent was
Word word_of_atfork = 0;

// The kernel empties a page in each child, however that was made (clone() does not call what pthread_atfork()
// registers). Where it does not know how to, before Linux 4.14, fork() has to be asked.
Word* make_word() {
    const auto size = std::size_t(sysconf(_SC_PAGESIZE));
    void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) Word{0};
    if (page != MAP_FAILED) munmap(page, size);
    pthread_atfork(nullptr, nullptr, [] { word_of_atfork.store(0, std::memory_order_relaxed); });
    return &word_of_atfork;
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
    Word& here = word();
    std::uint64_t number = here.load(std::memory_order_relaxed);
    if (number != 0) return number;
    const std::uint64_t mine = numbers_given.fetch_add(1, std::memory_order_relaxed) + 1;
    return here.compare_exchange_strong(number, mine, std::memory_order_relaxed) ? mine : number;
}

}  // namespace next_id::client
