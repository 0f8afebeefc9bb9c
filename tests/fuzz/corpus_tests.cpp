// Every input that the fuzzers found worth keeping, and every one that ever broke a promise, in each run. A corpus is
// small: run.sh --merge keeps of it what reaches code that nothing else reaches.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/fuzz/targets.h"

namespace next_id::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t inputs_max = 400, bytes_max = 300 * 1024;  // of all corpora together
const fs::path corpora = fs::path{NEXT_ID_SOURCE_DIR} / "tests/fuzz/corpus";

std::string content(const fs::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

void replay(const FuzzTarget& target) {
    std::size_t inputs = 0;
    for (const auto& entry : fs::directory_iterator{corpora / target.name}) {
        const std::string bytes = content(entry.path());
        BOOST_TEST_CONTEXT(entry.path()) {
            BOOST_CHECK_NO_THROW(target.run(bytes));
        }
        ++inputs;
    }
    BOOST_TEST(inputs > 0u);
    target.run({});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fuzz_corpus_tests)

BOOST_AUTO_TEST_CASE(every_kept_input_keeps_its_promise) {
    for (const FuzzTarget& target : fuzz_targets) BOOST_TEST_CONTEXT(target.name) {
            replay(target);
        }
}

BOOST_AUTO_TEST_CASE(the_corpora_are_small_and_each_belongs_to_a_target) {
    std::set<std::string> names;
    for (const FuzzTarget& target : fuzz_targets) names.emplace(target.name);
    std::size_t inputs = 0, bytes = 0;
    for (const auto& folder : fs::directory_iterator{corpora}) {
        BOOST_TEST(names.contains(folder.path().filename()), folder.path() << " belongs to no target");
        for (const auto& entry : fs::directory_iterator{folder}) {
            ++inputs;
            bytes += fs::file_size(entry.path());
        }
    }
    BOOST_TEST(inputs <= inputs_max);
    BOOST_TEST(bytes <= bytes_max);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
