// The parts of an answer by themselves: the request parser, the answer writer, the client's pool, and the window, which
// is compared with the least that can hand out numbers safely, a bare compare-and-swap in the same mapping. Names are
// ROW/WHO: run.sh reads them. Times are wall-clock, per ID or per request.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <next_id/id_pool.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "protocol/answers.h"
#include "protocol/http_request.h"
#include "protocol/http_response.h"
#include "protocol/window_layout.h"
#include "tests/bench/requests.h"
#include "tests/bench/stub_sidecar.h"

namespace next_id::bench {
namespace {

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

// --- the window -----------------------------------------------------------------------------------

constexpr std::uint64_t slot_count = 32768;  // as in the sidecar: 5 * 10^11 IDs, more than a run can take

// A full window in memory that children share.
class SharedWindow {
 public:
    SharedWindow() {
        void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) fail("mmap");
        header_ = static_cast<Window<>::Header*>(at);
        header_->magic = Window<>::magic;
        header_->version = Window<>::version;
        header_->slot_count = slot_count;
        Window<> window = get();
        window.publish({1'000'000'000'000, 1, slot_count * Window<>::slot_ids_max});
        window.wake_when_left(0);
    }
    ~SharedWindow() { ::munmap(header_, bytes); }
    SharedWindow(const SharedWindow&) = delete;

    Window<> get() { return *Window<>::in({reinterpret_cast<std::byte*>(header_), bytes}); }
    Window<>::Header& header() { return *header_; }

 private:
    static constexpr std::size_t bytes = Window<>::size_of_file(slot_count);
    Window<>::Header* header_;
};

template <std::uint64_t count>
bool take_from(Window<>& window) {
    Range range;
    const bool taken = window.take(count, {&range, 1}).result == TakeResult::taken;
    benchmark::DoNotOptimize(range);
    return taken;
}

// What a counter with an end costs: the window without ranges, steps and wake-ups.
bool swap_in(Window<>::Header& header) {
    std::uint64_t from = header.cursor.load(std::memory_order_acquire);
    do {
        if (from >= header.limit.load(std::memory_order_acquire)) return false;
    } while (!header.cursor.compare_exchange_weak(from, from + 1, std::memory_order_acq_rel));
    benchmark::DoNotOptimize(from);
    return true;
}

// Puts the calling thread on the nth of its cores, if there are so many, until the end of the scope: two that the
// scheduler leaves on one core take turns, and do not fight.
class OnCore {
 public:
    explicit OnCore(int nth) {
        if (::sched_getaffinity(0, sizeof before_, &before_) != 0) fail("sched_getaffinity");
        if (CPU_COUNT(&before_) <= nth) return;
        std::size_t core = 0;
        for (int passed = CPU_ISSET(0, &before_); passed <= nth; passed += CPU_ISSET(core, &before_)) ++core;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        if (::sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
    }
    ~OnCore() { ::sched_setaffinity(0, sizeof before_, &before_); }
    OnCore(const OnCore&) = delete;

 private:
    cpu_set_t before_;
};

// Another process that does the same to the same mapping, on another core, for as long as this object lives.
class Rival {
 public:
    template <class Work>
    explicit Rival(Work work) : child_{::fork()} {
        if (child_ < 0) fail("fork");
        if (child_ != 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const OnCore second{1};
        for (;;) work();
    }
    ~Rival() {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    Rival(const Rival&) = delete;

 private:
    pid_t child_;
};

SharedWindow* shared = nullptr;  // of the benchmark that runs, whichever of its threads

void set_up(const benchmark::State&) {
    shared = new SharedWindow;
}
void tear_down(const benchmark::State&) {
    delete std::exchange(shared, nullptr);
}

template <std::uint64_t count>
void take(benchmark::State& state) {
    const OnCore own{state.thread_index()};
    Window<> window = shared->get();
    for (auto _ : state)
        if (!take_from<count>(window)) return state.SkipWithError("the window is empty");
    state.SetItemsProcessed(state.iterations() * std::int64_t{count});
}

void compare_and_swap(benchmark::State& state) {
    const OnCore own{state.thread_index()};
    Window<>::Header& header = shared->header();
    for (auto _ : state)
        if (!swap_in(header)) return state.SkipWithError("the counter has ended");
    state.SetItemsProcessed(state.iterations());
}

void take_beside_a_rival(benchmark::State& state) {
    const Rival rival{[window = shared->get()]() mutable { take_from<1>(window); }};
    take<1>(state);
}

void compare_and_swap_beside_a_rival(benchmark::State& state) {
    const Rival rival{[] { swap_in(shared->header()); }};
    compare_and_swap(state);
}

void in_window(benchmark::internal::Benchmark* benchmark) {
    benchmark->Setup(set_up)->Teardown(tear_down);
}

// The time of the wall: who fights for a cache line waits without using less of the processor.
void contended(benchmark::internal::Benchmark* benchmark) {
    in_window(benchmark);
    benchmark->UseRealTime();
}

BENCHMARK(take<1>)->Name("take-1/next-id")->Apply(in_window);
BENCHMARK(compare_and_swap)->Name("take-1/compare-and-swap")->Apply(in_window);
BENCHMARK(take<1>)->Name("take-1-threads/next-id")->Apply(contended)->Threads(2);
BENCHMARK(compare_and_swap)->Name("take-1-threads/compare-and-swap")->Apply(contended)->Threads(2);
BENCHMARK(take_beside_a_rival)->Name("take-1-processes/next-id")->Apply(contended);
BENCHMARK(compare_and_swap_beside_a_rival)->Name("take-1-processes/compare-and-swap")->Apply(contended);
BENCHMARK(take<100>)->Name("take-100/next-id")->Apply(in_window);

// --- the client's pool ----------------------------------------------------------------------------

struct Pool {
    StubSidecar sidecar;
    IdPool ids{options(sidecar.path()), {StubSidecar::batch}};

    static Options options(const std::string& path) {
        Options all;
        all.address = path;
        return all;
    }
};

Pool* pool = nullptr;  // of the benchmark that runs, whichever of its threads

void next_of_pool(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(pool->ids.next());
    state.SetItemsProcessed(state.iterations());
}

void from_pool(benchmark::internal::Benchmark* benchmark) {
    benchmark->Setup([](const benchmark::State&) { (pool = new Pool)->ids.next(); });
    benchmark->Teardown([](const benchmark::State&) { delete std::exchange(pool, nullptr); });
}

BENCHMARK(next_of_pool)->Name("pool/next-id")->Apply(from_pool);
BENCHMARK(next_of_pool)->Name("pool-threads/next-id")->Apply(from_pool)->UseRealTime()->Threads(2);

// --- the client's mapped window --------------------------------------------------------------------

// A sidecar's window file, as a client finds it, without a sidecar.
class FullWindowFile {
 public:
    FullWindowFile() {
        constexpr std::size_t bytes = Window<>::size_of_file(slot_count);
        ::mkdtemp(directory_.data());
        path_ = directory_ + "/ids.window";
        const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        struct stat status;
        if (::posix_fallocate(file, 0, bytes) != 0 || ::fstat(file, &status) != 0) fail(path_.c_str());
        void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) fail("mmap");
        auto* const header = static_cast<Window<>::Header*>(at);
        header->magic = Window<>::magic;
        header->version = Window<>::version;
        header->slot_count = slot_count;
        header->origin.device = status.st_dev;
        header->origin.inode = status.st_ino;
        Window<>::in({static_cast<std::byte*>(at), bytes})->publish({1, 1, slot_count * Window<>::slot_ids_max});
        ::munmap(at, bytes);
        ::close(file);
    }
    ~FullWindowFile() {
        ::unlink(path_.c_str());
        ::rmdir(directory_.c_str());
    }
    FullWindowFile(const FullWindowFile&) = delete;

    Options options() const {
        Options all;
        all.sequence = "ids";
        all.window = directory_;
        return all;
    }

 private:
    std::string directory_ = "/dev/shm/next-id-bench-XXXXXX", path_;
};

void next_of_mapped(benchmark::State& state) {
    const FullWindowFile window;
    v1::Client client{window.options()};
    for (auto _ : state) benchmark::DoNotOptimize(client.next());
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(next_of_mapped)->Name("mapped/next-id");

// --- parser and writer ----------------------------------------------------------------------------

// The requests of a client that keeps its connection, one after the other.
void parse(benchmark::State& state, const char* client, bool traced) {
    const Requests requests = Requests::over_http({"/next-id"}, headers_of(client), traced, 1);
    HttpParser parser;
    std::size_t at = 0;
    for (auto _ : state) {
        std::size_t consumed = 0;
        if (parser.parse(requests.from(at, requests.size()), consumed) != HttpParser::Result::request)
            return state.SkipWithError("not a request");
        benchmark::DoNotOptimize(parser.request());
        at = requests.advanced(at, consumed);
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(parse, again, "curl", false)->Name("parse-again/next-id");
BENCHMARK_CAPTURE(parse, curl, "curl", true)->Name("parse-curl/next-id");
BENCHMARK_CAPTURE(parse, go, "go", true)->Name("parse-go/next-id");
BENCHMARK_CAPTURE(parse, java, "java", true)->Name("parse-java/next-id");

void write_one(benchmark::State& state) {
    std::string out;
    std::int64_t id = 1'000'000'000'000;
    for (auto _ : state) {
        out.clear();
        append_id_response(out, id++);
        benchmark::DoNotOptimize(out.data());
    }
    state.SetItemsProcessed(state.iterations());
}

void write_ids(benchmark::State& state, Format format) {
    constexpr std::uint64_t count = 1000;
    std::string out;
    Range range{1'000'000'000'000, 1, count};
    for (auto _ : state) {
        out.clear();
        append_ids(out, {&range, 1}, format);
        range.first += std::int64_t{count};
        benchmark::DoNotOptimize(out.data());
    }
    state.SetItemsProcessed(state.iterations() * std::int64_t{count});
}

BENCHMARK(write_one)->Name("write-1/next-id");
BENCHMARK_CAPTURE(write_ids, ids, Format{.layout = Layout::ids})->Name("write-ids-1000/next-id");
BENCHMARK_CAPTURE(write_ids, ranges, Format{.layout = Layout::ranges})->Name("write-ranges-1000/next-id");

}  // namespace
}  // namespace next_id::bench

BENCHMARK_MAIN();
