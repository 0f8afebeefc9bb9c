#include "sidecar/metrics/exposition.h"

#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <limits>
#include <random>
#include <thread>

#include "sidecar/base/file_descriptor.h"
#include "sidecar/metrics/process_figures.h"

namespace next_id {
namespace {

// What a sample without labels says; fails when there is none.
double value_of(const std::string& text, const std::string& name) {
    const std::size_t at = ("\n" + text).find("\n" + name + " ");
    BOOST_TEST_REQUIRE(at != std::string::npos, name);
    return std::stod(text.substr(at + name.size() + 1));
}

std::string process_figures() {
    Exposition out;
    add_process_figures(out, std::chrono::system_clock::time_point{std::chrono::seconds{1'800'000'000}});
    return out.text();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exposition_tests)

BOOST_AUTO_TEST_CASE(it_writes_what_prometheus_reads) {
    Exposition out;
    out.counter("ids_total", "How many.");
    out.add({{"listener", "http"}, {"sequence", "say \"ids\"\\\n"}}, std::uint64_t{9'007'199'254'740'992});
    out.gauge("nothing", "Without a sample.");
    out.gauge("left_seconds", "How long.");
    out.add({}, std::numeric_limits<double>::infinity());
    BOOST_TEST(out.text() ==
               "# HELP ids_total How many.\n"
               "# TYPE ids_total counter\n"
               "ids_total{listener=\"http\",sequence=\"say \\\"ids\\\"\\\\\\n\"} 9007199254740992\n"
               "# HELP left_seconds How long.\n"
               "# TYPE left_seconds gauge\n"
               "left_seconds +Inf\n");
}

BOOST_AUTO_TEST_CASE(the_buckets_of_a_histogram_contain_those_below_them) {
    Histogram histogram;
    histogram.observe(std::chrono::microseconds{10});
    histogram.observe(std::chrono::milliseconds{1}, 2);
    histogram.observe(std::chrono::seconds{20});
    Exposition out;
    out.histogram("took_seconds", "How long.");
    out.add({{"listener", "http"}}, histogram.read());
    const std::string text = out.text();
    for (const char* line : {
             "took_seconds_bucket{listener=\"http\",le=\"1e-05\"} 1\n",
             "took_seconds_bucket{listener=\"http\",le=\"0.0003\"} 1\n",
             "took_seconds_bucket{listener=\"http\",le=\"0.001\"} 3\n",
             "took_seconds_bucket{listener=\"http\",le=\"10\"} 3\n",
             "took_seconds_bucket{listener=\"http\",le=\"+Inf\"} 4\n",
             "took_seconds_count{listener=\"http\"} 4\n",
             "took_seconds_sum{listener=\"http\"} 20.00201\n",
         })
        BOOST_TEST(text.find(line) != std::string::npos, line << text);
}

// A mark that were read as less than it is would let a sequence resume among IDs that are in use.
BOOST_AUTO_TEST_CASE(no_id_is_told_nearer_to_zero_than_it_is) {
    BOOST_TEST(outward(0) == 0);
    BOOST_TEST(outward(-17) == -17);
    BOOST_TEST(outward(999'999'999'999'999) == 999'999'999'999'999);
    BOOST_TEST(outward(1'000'000'000'000'001) == 1'000'000'000'000'010);
    std::random_device random;
    const auto seed = random();
    BOOST_TEST_MESSAGE("seed " << seed);
    std::mt19937_64 engine{seed};
    for (int i = 0; i < 2000; ++i) {
        const auto id = static_cast<std::int64_t>(engine()) >> engine() % 60;
        Exposition out;
        out.gauge("id", "An ID.");
        out.add({}, outward(id));
        const auto told = static_cast<__int128>(value_of(out.text(), "id"));
        BOOST_TEST_REQUIRE((id < 0 ? told <= id : told >= id), "seed " << seed << ", ID " << id);
        BOOST_TEST_REQUIRE(((id < 0 ? id - told : told - id) < 20'000), "seed " << seed << ", ID " << id);
    }
    for (const std::int64_t end : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
        BOOST_TEST(std::abs(outward(end)) >= 9'223'372'036'854'775'807.0);
}

BOOST_AUTO_TEST_CASE(the_process_is_told_of_truly) {
    const std::string before = process_figures();
    BOOST_TEST(value_of(before, "process_start_time_seconds") == 1'800'000'000);
    BOOST_TEST(value_of(before, "process_resident_memory_bytes") > 1e6);
    BOOST_TEST(value_of(before, "process_virtual_memory_bytes") > value_of(before, "process_resident_memory_bytes"));
    BOOST_TEST(value_of(before, "process_max_fds") >= value_of(before, "process_open_fds"));
    BOOST_TEST(value_of(before, "process_virtual_memory_max_bytes") != 0);
    BOOST_TEST(value_of(before, "process_cpu_seconds_total") > 0);

    const FileDescriptor one{::dup(0)}, another{::dup(0)};
    std::atomic<bool> over = false;
    std::thread thread{[&] { over.wait(false); }};
    const std::string after = process_figures();
    over = true;
    over.notify_one();
    thread.join();
    BOOST_TEST(value_of(after, "process_open_fds") == value_of(before, "process_open_fds") + 2);
    BOOST_TEST(value_of(after, "process_threads") == value_of(before, "process_threads") + 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
