// The source tree as the rules of the house see it: files as lines, each with its includes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace next_id {

struct Include {
    std::string path;   // as written between the quotes or angles
    bool ours = false;  // in quotes
    std::size_t line = 0;
};

struct SourceFile {
    std::string path;  // from the top of the tree: "sidecar/base/expected.h"
    std::vector<std::string> lines;

    SourceFile(std::string path_from_top, const std::string& text) : path{std::move(path_from_top)} {
        std::istringstream in{text};
        for (std::string line; std::getline(in, line);) lines.push_back(line);
    }

    bool is_in(std::string_view folder) const { return path.starts_with(folder); }
    bool is_test() const { return is_in("tests/"); }
    bool is_header() const { return path.ends_with(".h"); }
    std::string folder() const { return path.substr(0, path.rfind('/')); }
    std::string name() const { return path.substr(path.rfind('/') + 1); }
    std::string stem() const { return name().substr(0, name().rfind('.')); }

    std::vector<Include> includes() const {
        std::vector<Include> found;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (!lines[i].starts_with("#include")) continue;
            const std::size_t open = lines[i].find_first_of("\"<");
            const std::size_t close = open == std::string::npos ? open : lines[i].find_first_of("\">", open + 1);
            if (close == std::string::npos) continue;
            found.push_back({lines[i].substr(open + 1, close - open - 1), lines[i][open] == '"', i + 1});
        }
        return found;
    }
};

// In the order of their paths.
using SourceTree = std::vector<SourceFile>;

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream in{path};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// The C++ of the program, the protocol and the tests below `top`.
inline SourceTree read_tree(const std::filesystem::path& top) {
    SourceTree tree;
    for (const char* folder : {"sidecar", "protocol", "tests"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator{top / folder})
            if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
                tree.emplace_back(entry.path().lexically_relative(top).generic_string(), read_text(entry.path()));
    std::ranges::sort(tree, {}, &SourceFile::path);
    return tree;
}

// "sidecar/serve" of "sidecar/serve/stream.h", "sidecar/main.cpp" of itself, "protocol" of what is in there but for
// "protocol/client".
inline std::string room_of(const std::string& path) {
    const std::string_view house = path.starts_with("sidecar/")           ? "sidecar/"
                                   : path.starts_with("protocol/client/") ? "protocol/"
                                                                          : "";
    const std::size_t end = path.find('/', house.size());
    return path.substr(0, end);
}

}  // namespace next_id
