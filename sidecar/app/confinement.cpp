#include "sidecar/app/confinement.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sidecar/base/file_descriptor.h"
#include "sidecar/base/require.h"

namespace next_id {

namespace {

// What changes the file system, as far as a version of Landlock knows it (landlock(7)).
std::uint64_t writing_accesses(long version) {
    std::uint64_t accesses = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                             LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    constexpr std::uint64_t refer = 1u << 13, truncate = 1u << 14;  // of versions 2 and 3; not in every header
    if (version >= 2) accesses |= refer;
    if (version >= 3) accesses |= truncate;
    return accesses;
}

}  // namespace

bool holds_secrets(const Config& config) {
    return config.pg_password.source != PgPassword::Source::none_needed || !config.pg_conninfo.empty() ||
           !config.tls_key.empty() || !config.token_file.empty() || !config.admin_token_file.empty();
}

void hide_memory() {
    const rlimit none{0, 0};
    require(prctl(PR_SET_DUMPABLE, 0) == 0 && setrlimit(RLIMIT_CORE, &none) == 0);
}

std::string confine_writes(const std::vector<std::filesystem::path>& directories) {
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return std::string{"this kernel or container has no Landlock: "} + std::strerror(errno);

    landlock_ruleset_attr rules{};
    rules.handled_access_fs = writing_accesses(version);
    const FileDescriptor ruleset{int(syscall(SYS_landlock_create_ruleset, &rules, sizeof rules.handled_access_fs, 0))};
    if (!ruleset) return std::string{"Landlock: "} + std::strerror(errno);
    for (const auto& directory : directories) {
        const FileDescriptor parent{open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
        landlock_path_beneath_attr beneath{};
        beneath.allowed_access = rules.handled_access_fs;
        beneath.parent_fd = parent.get();
        if (!parent || syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0)
            return directory.string() + ": " + std::strerror(errno);
    }
    if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
        return std::string{"Landlock: "} + std::strerror(errno);
    return {};
}

}  // namespace next_id
