// What a user could have given, for the tests of the configuration: flags, an environment of its own, a file in a
// directory of its own.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "sidecar/config/load.h"

namespace next_id {

struct GivenConfig {
    GivenConfig() {
        std::string pattern = (std::filesystem::temp_directory_path() / "next-id-XXXXXX").string();
        directory = mkdtemp(pattern.data());
    }
    ~GivenConfig() { std::filesystem::remove_all(directory); }

    Expected<Config, ConfigError> load(Command command = Command::serve) const {
        return load_config(command, flags, [this](const std::string& name) {
            const auto found = environment.find(name);
            return found == environment.end() ? nullptr : found->second.c_str();
        });
    }
    Config loaded(Command command = Command::serve) const {
        const auto config = load(command);
        BOOST_TEST_REQUIRE(config.has_value(), (config ? "" : config.error().sentence));
        return *config;
    }
    // The sentence of the refusal.
    std::string refused(ExitCode exit_code = ExitCode::cannot_work, Command command = Command::serve) const {
        const auto config = load(command);
        BOOST_TEST_REQUIRE(!config.has_value());
        BOOST_TEST(int(config.error().exit_code) == int(exit_code), config.error().sentence);
        return config.error().sentence;
    }

    void no_password_needed() { environment["PG_PASSWORD"] = ""; }
    std::string write(const std::string& name, const std::string& content) const {
        std::filesystem::create_directories((directory / name).parent_path());
        std::ofstream{directory / name, std::ios::binary} << content;
        return (directory / name).string();
    }
    void file(const std::string& content) { flags["config"] = write("next-id.conf", content); }

    // "host=a port=1?": a question mark behind what is there only by default.
    static std::string keywords(const Config& config) {
        std::string text;
        for (const auto& [keyword, value, by_default] : config.pg_keywords)
            text += (text.empty() ? "" : " ") + keyword + "=" + value + (by_default ? "?" : "");
        return text;
    }

    std::filesystem::path directory;
    Flags flags;
    std::map<std::string, std::string> environment;
};

}  // namespace next_id
