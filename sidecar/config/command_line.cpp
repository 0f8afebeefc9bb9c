#include "sidecar/config/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <vector>

#include "sidecar/base/escape.h"
#include "sidecar/config/values.h"

namespace next_id {
namespace {

Unexpected<ConfigError> wrong_usage(std::string sentence) {
    return Unexpected{ConfigError{ExitCode::wrong_usage, std::move(sentence)}};
}

// `--flag` of `--flag=value`: the value may be a secret.
std::string without_value(const std::string& argument) {
    return escape_text(argument.starts_with('-') ? argument.substr(0, argument.find('=')) : argument);
}

std::string description(const Setting& setting) {
    std::string text = std::string{setting.help} + " [" + std::string{setting.environment};
    if (setting.fallback) (text += ", default ") += setting.fallback;
    return text += ']';
}

void add_settings(CLI::App& app, Command command, Flags& flags) {
    for (const Setting& setting : settings()) {
        if (setting.traits.secret || !setting.is_for(command)) continue;
        const std::string name{setting.name};
        const std::string alone{setting.traits.alone};
        auto* const option = app.add_option_function<std::string>(
            setting.flag(),
            [name, alone, &flags](const std::string& text) { flags[name] = text.empty() ? alone : text; },
            description(setting));
        option->type_name(std::string{setting.value});
        if (!alone.empty()) option->expected(0, 1);
    }
}

std::string secrets_footer() {
    std::string text = "\nSecrets are taken from the environment or the settings file, never as a flag:\n";
    for (const Setting& setting : settings())
        if (setting.traits.secret)
            text += "  " + std::string{setting.environment} + ": " + std::string{setting.help} + "\n";
    text.pop_back();
    return text;
}

// The text of the options that are no settings.
struct Texts {
    std::string ids = "1";
    std::string sequence;
    std::string wait = "0s";
};

struct Apps {
    CLI::App top{"Unique 64-bit IDs from a PostgreSQL sequence, served beside the application.", "next-id"};
    CLI::App* serve = nullptr;
    CLI::App* get = nullptr;
    CLI::App* check = nullptr;
    CLI::App* status = nullptr;
};

void describe(Apps& apps, CommandLine& line, Texts& texts) {
    apps.top.get_formatter()->column_width(34);
    apps.top.set_version_flag("--version", "next-id " NEXT_ID_VERSION, "Print the version and exit");
    apps.top.set_help_flag("-h,--help", "Print this help and exit; each command has its own");
    apps.top.allow_extras();
    apps.serve = apps.top.add_subcommand("serve", "Run the sidecar");
    apps.get = apps.top.add_subcommand("get", "Print IDs, one a line, taken from the sidecar over its Unix socket");
    apps.check = apps.top.add_subcommand("check", "Ask the sidecar whether it can give out IDs; exit code 0 says yes");
    apps.status = apps.top.add_subcommand("status", "Print what the sidecar is doing: window, refill, trouble");
    for (CLI::App* command : {apps.serve, apps.get, apps.check, apps.status})
        command->set_help_flag("-h,--help", "Print this help and exit");

    add_settings(*apps.serve, Command::serve, line.flags);
    apps.serve->footer(secrets_footer());
    apps.get->add_option("-n,--count", texts.ids, "how many IDs [default 1]")->type_name("N");
    apps.get->add_option("--sequence", texts.sequence, "of which sequence [default: the first that the sidecar has]")
        ->type_name("NAME");
    add_settings(*apps.get, Command::get, line.flags);
    apps.check->add_option("--wait", texts.wait, "wait so long until it is ready [default 0s]")->type_name("DURATION");
    add_settings(*apps.check, Command::check, line.flags);
    apps.status->add_flag("--watch", line.watch, "go on, and print it anew each second, until ^C");
    add_settings(*apps.status, Command::status, line.flags);
}

// Before CLI11 sees it: its own sentence would not say what to do instead.
const Setting* secret_flag(std::span<const std::string> arguments) {
    for (const std::string& argument : arguments)
        for (const Setting& setting : settings())
            if (setting.traits.secret && without_value(argument) == setting.flag()) return &setting;
    return nullptr;
}

}  // namespace

Expected<CommandLine, ConfigError> parse_command_line(std::span<const std::string> arguments) {
    if (const Setting* secret = secret_flag(arguments))
        return wrong_usage(secret->flag() +
                           " is not taken as a flag, since everyone on the machine can read a command line: set " +
                           std::string{secret->environment} +
                           (secret->name == "pg-password" ? " or PG_PASSWORD_FILE" : "") + " instead");
    CommandLine line;
    Texts texts;
    Apps apps;
    describe(apps, line, texts);
    try {
        apps.top.parse(
            std::vector<std::string>{arguments.rbegin(), arguments.rend()});  // CLI11 wants them from the last on
    } catch (const CLI::CallForVersion& version) {
        line.print = std::string{version.what()} + "\n";
        return line;
    } catch (const CLI::CallForHelp&) {
        line.print = apps.top.help();  // of the command, where one was named
        return line;
    } catch (const CLI::ArgumentMismatch& error) {  // "--threads: 1 required N missing" and the like
        const std::string_view text = error.what();
        return wrong_usage(escape_text(text.substr(0, text.find(':'))) +
                           " takes one value, and is given once; next-id --help says more");
    } catch (const CLI::ParseError& error) {
        return wrong_usage(escape_text(error.what()) + "; next-id --help says what is allowed");
    }
    if (const auto extras = apps.top.remaining(true); !extras.empty())
        return wrong_usage("\"" + without_value(extras.front()) +
                           "\" is not understood; next-id --help says what is allowed");
    if (apps.top.get_subcommands().size() != 1)
        return wrong_usage("one command is wanted: serve, get, check or status; next-id --help says more");
    line.command = *apps.get      ? Command::get
                   : *apps.check  ? Command::check
                   : *apps.status ? Command::status
                                  : Command::serve;

    const auto ids = parse_whole(texts.ids, 1, get_ids_max);
    if (!ids) return wrong_usage("-n is \"" + escape_text(texts.ids) + "\", but takes " + ids.error());
    line.ids = *ids;
    line.sequence = texts.sequence;
    const auto wait = parse_duration(texts.wait, std::chrono::milliseconds{0}, check_wait_max);
    if (!wait) return wrong_usage("--wait is \"" + escape_text(texts.wait) + "\", but takes " + wait.error());
    line.wait_max = *wait;
    return line;
}

}  // namespace next_id
