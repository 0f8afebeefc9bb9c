// The same odd requests to next-id and to nginx, a server that much of the web is used to. Each request has a plain one
// behind it, and where the two servers differ (the class of a status, the number of answers, whether the connection is
// kept), a rule of the table below says why.
#include <fcntl.h>
#include <sys/wait.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <regex>

#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

namespace fs = std::filesystem;

class Nginx {
 public:
    Nginx() {
        const char* const program = "/usr/sbin/nginx";
        if (!fs::exists(program))
            throw std::runtime_error{"nginx is missing, to compare with: apt-get install nginx-light"};
        std::string pattern = "/dev/shm/next-id-nginx-XXXXXX";
        directory_ = ::mkdtemp(pattern.data());
        std::ofstream{directory_ + "/nginx.conf"} << configuration();
        const int log = ::open((directory_ + "/log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        pid_ = start_program({program, "-p", directory_, "-c", "nginx.conf", "-e", directory_ + "/log"}, log);
        ::close(log);
        if (!wait_until([&] { return can_connect(socket()); }))
            throw std::runtime_error{"nginx: " + content(directory_ + "/log")};
    }
    ~Nginx() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        fs::remove_all(directory_);
    }
    Nginx(const Nginx&) = delete;

    std::string socket() const { return directory_ + "/socket"; }

 private:
    static std::string content(const std::string& path) {
        std::ifstream in{path};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    // Of next-id's answers, as far as nginx can give them.
    std::string configuration() const {
        std::string paths;
        for (const char* const kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
            paths += std::string{kind} + "_temp_path " + directory_ + "/" + kind + ";\n";
        return "daemon off; master_process off; pid nginx.pid; events {}\nhttp {\naccess_log off;\n" + paths +
               "server {\nlisten unix:" + socket() +
               ";\nkeepalive_requests 1000000;\n"
               "location = /next-id {\nif ($request_method !~ ^(GET|HEAD|POST)$) { return 405; }\nreturn 200 '{}';\n}\n"
               "location / { return 404; }\n}\n}\n";
    }

    std::string directory_;
    pid_t pid_ = -1;
};

struct Verdict {
    std::vector<int> statuses;  // 9: an answer as HTTP/0.9 has it
    bool closes = false;        // as the last answer says
    std::string sentence;       // of the last error, ours only

    std::vector<int> classes() const {
        std::vector<int> all;
        for (const int status : statuses) all.push_back(status / 100);
        return all;
    }
    bool refuses() const { return !statuses.empty() && statuses.back() / 100 == 4; }
    std::string told() const {
        std::string text;
        for (const int status : statuses) text += std::to_string(status) + " ";
        return text + (closes ? "closed" : "kept") + (sentence.empty() ? "" : " (" + sentence + ")");
    }
};

Verdict verdict_of(const std::string& socket, const std::string& bytes) {
    TestClient client{socket};
    client.send(bytes);
    const std::string received = client.end();
    Verdict verdict;
    std::size_t last = 0;
    for (std::size_t at = 0; (at = received.find("HTTP/1.1 ", at)) != received.npos; at += 9) {
        const std::string status = received.substr(at + 9, 3);
        if (status.find_first_not_of("0123456789") != status.npos || status == "100") continue;
        verdict.statuses.push_back(std::stoi(status));
        last = at;
    }
    if (verdict.statuses.empty() && !received.empty()) verdict.statuses.push_back(9);
    const std::string head = received.substr(last, received.find("\r\n\r\n", last) - last);
    verdict.closes = head.find("Connection: close") != head.npos;
    const std::size_t sentence_at = received.find("\"error\":\"", last);
    if (sentence_at != received.npos)
        verdict.sentence = received.substr(sentence_at + 9, received.find('"', sentence_at + 9) - sentence_at - 9);
    return verdict;
}

// Requests by a grammar whose every part is now and then odd, and then perhaps damaged.
class Requests {
 public:
    explicit Requests(unsigned seed) : random_{seed} {}

    std::string next() {
        const std::string end = odd(line_ends, 20);
        std::string bytes =
            odd(methods, 4) + odd(blanks, 30) + odd(targets, 2) + odd(blanks, 30) + odd(versions, 5) + end;
        if (below(12) != 0) bytes += odd(hosts, 6) + end;
        for (std::size_t headers = below(4); headers != 0; --headers) bytes += pick(header_lines) + odd(line_ends, 40);
        bytes += odd(line_ends, 40);
        if (below(6) == 0) bytes += pick(bodies);
        if (below(5) == 0) bytes.replace(below(bytes.size()), below(3), pick(splinters));
        return bytes;
    }

 private:
    using Choices = std::vector<std::string>;

    std::size_t below(std::size_t bound) { return random_() % bound; }
    const std::string& pick(const Choices& choices) { return choices[below(choices.size())]; }
    // The first choice but for one time in `rarity`.
    const std::string& odd(const Choices& choices, std::size_t rarity) {
        return below(rarity) == 0 ? pick(choices) : choices[0];
    }

    std::mt19937 random_;
    const Choices methods{"GET",   "HEAD",  "POST",    "PUT", "DELETE", "OPTIONS",
                          "PATCH", "TRACE", "CONNECT", "get", "BREW",   ""};
    const Choices blanks{" ", "  ", "\t", ""};
    const Choices line_ends{"\r\n", "\n", "\r", "\r\r\n", ""};
    const Choices targets{"/next-id",
                          "/",
                          "/none",
                          "//next-id",
                          "/./next-id",
                          "/a/../next-id",
                          "/next-id/..",
                          "/%6eext-id",
                          "/next-id%00",
                          "/next-id?",
                          "/next-id#a",
                          "/next-id?%zz",
                          "http://a/next-id",
                          "HTTP://a:80/next-id",
                          "http://a",
                          "http:///next-id",
                          "http://u@a/next-id",
                          "ftp://a/next-id",
                          "a:80",
                          "*",
                          "next-id",
                          "",
                          "/../next-id",
                          "/next-id/",
                          "/next-id;a",
                          "/\xc3\xa9",
                          "/next-id%"};
    const Choices versions{"HTTP/1.1",  "HTTP/1.0", "HTTP/0.9", "HTTP/1.2", "HTTP/2.0",
                           "HTTP/1.10", "http/1.1", "HTTP/1",   "",         "HTTP/1.1 "};
    const Choices hosts{"Host: a",        "Host:",     "Host: a:80",         "Host : a",           "Host: a b",
                        "Host: a/b",      "Host: u@a", "Host: a\r\nHost: a", "Host: a\r\nHost: b", "HOST:a",
                        "Host: [::1]:80", "Host: a,b", "Host: \xc3\xa9"};
    const Choices header_lines{"X: a",
                               "X:",
                               ": a",
                               "X a",
                               "X",
                               "X : a",
                               " X: a",
                               "\tX: a",
                               "X_y: a",
                               "X(: a",
                               "X: \x01",
                               "X: \x7f",
                               "X: \xc3\xa9",
                               "Connection: close",
                               "Connection: keep-alive",
                               "Connection: Close",
                               "Connection: keep-alive, close",
                               "Content-Length: 0",
                               "Content-Length: 5",
                               "Content-Length: 00",
                               "Content-Length: -1",
                               "Content-Length: +0",
                               "Content-Length: 0, 0",
                               "Content-Length: a",
                               "Content-Length:",
                               "Transfer-Encoding: chunked",
                               "Transfer-Encoding: identity",
                               "Transfer-Encoding: xchunked",
                               "Transfer-Encoding: chunked, identity",
                               "Transfer-Encoding: gzip, chunked",
                               "Expect: 100-continue",
                               "Upgrade: h2c",
                               "Connection: Upgrade",
                               "Authorization: a",
                               "Accept: text/plain",
                               "Range: bytes=0-0"};
    const Choices bodies{"hello", "0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "GET /none HTTP/1.1\r\nHost: a\r\n\r\n"};
    const Choices splinters{"\r",   "\n",   " ",     "\t", ":", std::string(1, '\0'),
                            "\x80", "\r\n", "\r\n ", "/",  "%", "HTTP/"};
};

// We refuse and close, with this in our sentence; nginx goes on, or refuses for another reason.
struct Stricter {
    const char* sentence;
    const char* because;
};
const Stricter stricter[] = {
    {"a line of the head is folded", "a bare LF, a fold, a header without a name: servers read them differently"},
    {"not a well-formed", "nginx overlooks names and bytes that are none, together with their header"},
    {"does not begin with an HTTP method", "nginx takes any word of capitals for a method"},
    {"a request body is not accepted", "nginx reads a body and throws it away; here what follows is not looked at"},
    {"only HTTP/1.0 and HTTP/1.1", "nginx speaks HTTP/0.9, and takes 1.2 for 1.1"},
    {"neither a path nor an http", "nginx takes any scheme for http"},
    {"neither a name nor an address", "nginx looks for less in Host"},
    {"given twice", "nginx believes one of the two"},
    {"CONNECT is not supported", "both refuse it; here the connection ends too"},
};

// Other differences. In none of them do the two disagree about where a request ends.
struct Rule {
    bool (*holds)(const std::string& bytes, const Verdict& ours, const Verdict& nginx);
    const char* because;
};
bool has(const std::string& bytes, const char* part) {
    return bytes.find(part) != std::string::npos;
}
bool matches(const std::string& bytes, const char* pattern) {
    return std::regex_search(bytes, std::regex{pattern, std::regex::icase});
}
const Rule rules[] = {
    {[](const std::string& bytes, const Verdict& ours, const Verdict&) {
         return bytes.starts_with('*') && ours.statuses == std::vector{9};
     },
     "an asterisk in front means RESP on the Unix socket"},
    {[](const std::string&, const Verdict& ours, const Verdict& nginx) {
         return ours.statuses.front() == 404 && nginx.statuses.front() == 200 && ours.closes == nginx.closes &&
                ours.statuses.size() == nginx.statuses.size();
     },
     "nginx decodes, merges and resolves a path; here it means itself"},
    {[](const std::string& bytes, const Verdict& ours, const Verdict& nginx) {
         return nginx.statuses.back() == 400 && ours.statuses.size() >= nginx.statuses.size() &&
                ours.statuses[nginx.statuses.size() - 1] / 100 == 4 &&
                (has(bytes, "*") || has(bytes, "%") || has(bytes, "/..") || has(bytes, "/\x80"));
     },
     "nginx refuses a path that it cannot resolve, and closes; here it is one that does not exist"},
    {[](const std::string& bytes, const Verdict&, const Verdict& nginx) {
         return nginx.statuses.back() == 400 && matches(bytes, "Host:[ \\t]*\\r?\\n");
     },
     "an empty Host, which clients of a Unix socket may send (RFC 9112, 3.2), is none to nginx"},
    {[](const std::string& bytes, const Verdict& ours, const Verdict& nginx) {
         return ours.statuses.front() == 400 && nginx.statuses.front() == 200 && has(bytes, "?") &&
                ours.closes == nginx.closes && ours.statuses.size() == nginx.statuses.size();
     },
     "the query means nothing to nginx"},
    {[](const std::string& bytes, const Verdict& ours, const Verdict& nginx) {
         return bytes.starts_with("TRACE") && ours.statuses.front() / 100 == 4 && nginx.statuses == std::vector{405};
     },
     "nginx closes behind TRACE; here it is a method like any other that takes no IDs"},
    {[](const std::string& bytes, const Verdict& ours, const Verdict&) {
         return ours.closes && matches(bytes, "Connection:[^]*Connection:");
     },
     "of several Connection headers nginx reads the last; here a close in any of them closes"},
    {[](const std::string& bytes, const Verdict& ours, const Verdict& nginx) {
         return nginx.closes && !ours.closes &&
                matches(bytes, "Connection:(.*,)?[ \\t]*([^ \\t,][^,\\r\\n]*close|.*close[ \\t]*[^ \\t\\r\\n,])");
     },
     "nginx finds close anywhere in Connection; here it must be an item of the list"},
    {[](const std::string& bytes, const Verdict&, const Verdict& nginx) {
         return nginx.statuses.back() == 400 && matches(bytes, "(Host|Content-Length):[^\\n]*\\t");
     },
     "a tab around a value is white space (RFC 9110, 5.6.3), but not to nginx in Host or Content-Length"},
    {[](const std::string& bytes, const Verdict&, const Verdict& nginx) {
         return nginx.statuses == std::vector{400} && matches(bytes, "://[^ /]*%");
     },
     "a name may hold %XX (RFC 3986, 3.2.2), but not to nginx"},
    {[](const std::string& bytes, const Verdict&, const Verdict& nginx) {
         return nginx.statuses.back() == 400 && matches(bytes, "Expect:[^]*Expect:");
     },
     "nginx takes one Expect only; without a body it means nothing, and twice no more"},
};

// Why the two may differ here; null when nothing explains it.
const char* explanation(const std::string& bytes, const Verdict& ours, const Verdict& nginx) {
    if (ours.closes && ours.refuses())
        for (const auto& [sentence, because] : stricter)
            if (has(ours.sentence, sentence)) return because;
    if (ours.statuses.empty() || nginx.statuses.empty()) return nullptr;
    for (const auto& [holds, because] : rules)
        if (holds(bytes, ours, nginx)) return because;
    return nullptr;
}

std::string printable(const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", static_cast<unsigned char>(c));
        text += c == '\r' ? "\\r" : c == '\n' ? "\\n" : escaped;
    }
    return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nginx_e2etests)

BOOST_AUTO_TEST_CASE(odd_requests_fare_as_with_nginx_or_a_rule_says_why) {
    const Nginx nginx;
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", new_sequence()}, {"NEXT_ID_WINDOW_MIN", "50000"}}};
    sidecar.start_filled(50'000);

    // The same requests in each ordinary run, so that a new difference is one of the program's making.
    const char* const given = std::getenv("NEXT_ID_SEED");
    const bool take_time = std::getenv("NEXT_ID_LONG") != nullptr;
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given))
                          : take_time      ? std::random_device{}()
                                           : 1;
    BOOST_TEST_MESSAGE("seed " << seed << " (NEXT_ID_SEED repeats it)");
    Requests requests{seed};
    std::map<std::string, int> explained;
    const int rounds = take_time ? 40'000 : 3000;
    for (int round = 0; round < rounds; ++round) {
        const std::string bytes = requests.next() + "GET /next-id HTTP/1.1\r\nHost: a\r\n\r\n";
        const Verdict ours = verdict_of(sidecar.socket(), bytes), theirs = verdict_of(nginx.socket(), bytes);
        if (ours.classes() == theirs.classes() && ours.closes == theirs.closes) continue;
        const char* const because = explanation(bytes, ours, theirs);
        BOOST_TEST(because != nullptr, "seed " << seed << ", next-id: " << ours.told() << ", nginx: " << theirs.told()
                                               << ", for " << printable(bytes));
        if (because != nullptr) ++explained[because];
    }
    for (const auto& [because, times] : explained) BOOST_TEST_MESSAGE(times << " times: " << because);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
