// A directory of a test's own, gone with what is in it when the test is over.
#pragma once

#include <stdlib.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

namespace next_id {

class TempDir {
 public:
    explicit TempDir(const std::filesystem::path& base = "/tmp") {
        std::string name = (base / "next-id-test-XXXXXX").string();
        BOOST_TEST_REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    TempDir(const TempDir&) = delete;

    // Writes the file over, and returns where it is.
    std::string write(const std::string& name, const std::string& content) const {
        std::ofstream{path / name, std::ios::binary} << content;
        return path / name;
    }

    std::filesystem::path path;
};

}  // namespace next_id
