#include "sidecar/admin/status_page.h"

#include <openssl/evp.h>

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

using Form = StatusRequest::Form;

// As browsers send it for a page.
constexpr std::string_view chrome =
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8";
constexpr std::string_view firefox = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

std::string part_of(const std::string& page, const std::string& element) {
    const std::size_t begin = page.find("<" + element + ">") + element.size() + 2;
    return page.substr(begin, page.find("</" + element + ">") - begin);
}

std::string csp_hash_of(const std::string& text) {
    unsigned char digest[EVP_MAX_MD_SIZE], base64[2 * EVP_MAX_MD_SIZE];
    unsigned bytes = 0;
    EVP_Digest(text.data(), text.size(), digest, &bytes, EVP_sha256(), nullptr);
    EVP_EncodeBlock(base64, digest, int(bytes));
    return "'sha256-" + std::string{reinterpret_cast<char*>(base64)} + "'";
}

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(status_page_tests)

BOOST_AUTO_TEST_CASE(browsers_get_the_page_and_programs_what_they_always_got) {
    BOOST_TEST((read_status_request("", chrome).form == Form::html));
    BOOST_TEST((read_status_request("", firefox).form == Form::html));
    for (const char* accept : {"", "*/*", "application/json", "application/json, text/plain, */*", "text/plain"})
        BOOST_TEST((read_status_request("", accept).form == Form::json), accept);
}

BOOST_AUTO_TEST_CASE(the_format_in_the_query_goes_before_accept) {
    BOOST_TEST((read_status_request("format=text", chrome).form == Form::text));
    BOOST_TEST((read_status_request("format=json", chrome).form == Form::json));
    BOOST_TEST((read_status_request("format=html", "*/*").form == Form::html));
    BOOST_TEST((read_status_request("format=other", chrome).form == Form::json));
    BOOST_TEST((read_status_request("format=%zz", "*/*").form == Form::json));
    BOOST_TEST(!read_status_request("format=json", "").ids_as_strings);
    const StatusRequest strings = read_status_request("format=string", chrome);
    BOOST_TEST((strings.form == Form::json && strings.ids_as_strings));
}

BOOST_AUTO_TEST_CASE(the_history_is_for_those_who_ask_for_it) {
    BOOST_TEST(!read_status_request("", "").json().with_history);
    BOOST_TEST(read_status_request("since=17", "").history_from.value() == 17U);
    BOOST_TEST(read_status_request("format=string&since=0", "").json().with_history);
    for (const char* query : {"since=", "since=-1", "since=1x", "since=99999999999999999999"})
        BOOST_TEST(!read_status_request(query, "").history_from.has_value(), query);
}

BOOST_AUTO_TEST_CASE(the_page_runs_its_own_style_and_script_and_nothing_else) {
    const std::string page = status_page(false);
    const std::string_view headers = status_page_headers();
    BOOST_TEST(holds(headers, "default-src 'none'; "));
    BOOST_TEST(holds(headers, "style-src " + csp_hash_of(part_of(page, "style")) + ";"));
    BOOST_TEST(holds(headers, "script-src " + csp_hash_of(part_of(page, "script")) + ";"));
    for (const char* header : {"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "connect-src 'self'",
                               "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n"})
        BOOST_TEST(holds(headers, header), header);
    BOOST_TEST(!holds(headers, "unsafe"));
    BOOST_TEST(!holds(page, "@style@"));
    BOOST_TEST(!holds(page, "@script@"));
    for (const char* outside : {"src=\"http", "href=\"http", "url(http", "@import", " style=\"", " onclick="})
        BOOST_TEST(!holds(page, outside), outside);
}

BOOST_AUTO_TEST_CASE(the_page_is_small_and_knows_whether_a_token_is_wanted) {
    BOOST_TEST(status_page(false).size() < 48U * 1024);
    BOOST_TEST(holds(status_page(false), "data-token=\"\""));
    BOOST_TEST(holds(status_page(true), "data-token=\"wanted\""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
