// A file that its owner reads again when it changes: written over, replaced, or behind a symbolic link that now leads
// elsewhere, which is how Kubernetes swaps secrets. Its owner asks now and then; while nothing changes that is one
// system call. On one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

#include "sidecar/base/expected.h"

namespace next_id {

class WatchedFile {
 public:
    // Nothing is read yet. A file of more than `bytes_max` is refused.
    WatchedFile(std::string path, std::size_t bytes_max) : path_{std::move(path)}, bytes_max_{bytes_max} {}

    // Looks again. True iff the content, or why it cannot be read, is another than before, or none was known.
    bool refresh();

    // As of the last refresh(). The error is a sentence that names the file.
    const Expected<std::string>& content() const { return content_; }
    const std::string& path() const { return path_; }

 private:
    struct Seen {
        int error = 0;  // errno; what follows it is 0 then
        std::uint64_t device = 0, inode = 0;
        std::int64_t size = 0;
        std::int64_t modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0;

        bool operator==(const Seen&) const = default;
    };

    Seen look() const;

    const std::string path_;
    const std::size_t bytes_max_;
    Seen seen_;
    bool settled_ = false;  // what is seen now and what was read belong together for certain
    Expected<std::string> content_ = Unexpected{std::string{"it has not been read"}};
};

}  // namespace next_id
