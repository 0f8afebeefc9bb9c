#include "sidecar/api/id_request.h"

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

using Method = HttpRequest::Method;

const Catalog catalog{{"global_id_seq", "orders", "\"My Seq\"", "app.ids"}, 10'000'000};

HttpRequest get(std::string_view target) {
    HttpRequest request;
    request.method = Method::get;
    request.host = "localhost";
    request.target = target;
    return request;
}

// "sequence/count layout", and what of the format is not the default; or "status: sentence".
std::string told(const HttpRequest& request, const Catalog& offered = catalog) {
    const auto wanted = read_id_request(request, offered);
    if (!wanted) return std::to_string(wanted.error().status) + ": " + wanted.error().error;
    const Format& format = wanted->format;
    const char* const layout = format.layout == Layout::single ? " single" : format.layout == Layout::ids ? " ids" : " ranges";
    return std::to_string(wanted->sequence) + "/" + std::to_string(wanted->count) + layout + (format.strings ? " strings" : "") +
           (format.text ? " text" : "");
}

std::string told(std::string_view target, const Catalog& offered = catalog) { return told(get(target), offered); }

std::string count_refused(const std::string& count, std::uint64_t max) {
    return "400: count must be a whole number from 1 to " + std::to_string(max) + ", not '" + count + "'";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(id_request_tests)

BOOST_AUTO_TEST_CASE(every_row_of_the_contract_is_understood) {
    BOOST_TEST(told("/next-id") == "0/1 single");
    BOOST_TEST(told("/next-id?") == "0/1 single");
    BOOST_TEST(told("/next-id?count=3") == "0/3 ids");
    BOOST_TEST(told("/next-id?count=1") == "0/1 ids");
    BOOST_TEST(told("/next-id?count=3&format=ranges") == "0/3 ranges");
    BOOST_TEST(told("/next-id?format=ranges&count=3") == "0/3 ranges");
    BOOST_TEST(told("/next-id?format=ranges") == "0/1 ranges");
    BOOST_TEST(told("/next-id?format=string") == "0/1 single strings");
    BOOST_TEST(told("/next-id?format=string&count=2") == "0/2 ids strings");
    BOOST_TEST(told("/next-id?format=text") == "0/1 single text");
    BOOST_TEST(told("/next-id?format=text&count=2") == "0/2 ids text");
    BOOST_TEST(told("/next-id?format=json") == "0/1 single");
    BOOST_TEST(told("/next-id?count=5&format=ranges,string") == "0/5 ranges strings");
    BOOST_TEST(told("/next-id?count=5&format=string,ranges") == "0/5 ranges strings");
    BOOST_TEST(told("/next-id?count=5&format=ranges%2Cstring") == "0/5 ranges strings");
    BOOST_TEST(told("/next-id?c%6funt=%33") == "0/3 ids");
}

BOOST_AUTO_TEST_CASE(post_and_head_ask_as_get_does) {
    for (const Method method : {Method::get, Method::post, Method::head}) {
        HttpRequest request = get("/next-id/orders?count=3");
        request.method = method;
        BOOST_TEST(told(request) == "1/3 ids");
    }
}

BOOST_AUTO_TEST_CASE(another_method_is_refused_and_told_which_there_are) {
    HttpRequest request = get("/next-id");
    request.method = Method::other;
    const auto wanted = read_id_request(request, catalog);
    BOOST_TEST_REQUIRE(!wanted.has_value());
    BOOST_TEST(wanted.error().status == 405);
    BOOST_TEST(wanted.error().allow == "GET, HEAD, POST");
    BOOST_TEST(read_id_request(get("/"), catalog).error().allow == "");
}

BOOST_AUTO_TEST_CASE(the_accept_header_chooses_text_and_format_beats_it) {
    const auto with_accept = [](std::string_view target, std::string_view accept) {
        HttpRequest request = get(target);
        request.accept = accept;
        return told(request);
    };
    BOOST_TEST(with_accept("/next-id", "text/plain") == "0/1 single text");
    BOOST_TEST(with_accept("/next-id?count=2", "text/plain") == "0/2 ids text");
    BOOST_TEST(with_accept("/next-id", "application/json, text/plain, */*") == "0/1 single");
    BOOST_TEST(with_accept("/next-id", "image/png") == "0/1 single");
    BOOST_TEST(with_accept("/next-id?format=json", "text/plain") == "0/1 single");
    BOOST_TEST(with_accept("/next-id?format=string", "text/plain") == "0/1 single strings");
    BOOST_TEST(with_accept("/next-id?format=ranges&count=2", "text/plain") == "0/2 ranges");
    BOOST_TEST(with_accept("/next-id?format=text", "application/json") == "0/1 single text");
}

BOOST_AUTO_TEST_CASE(a_sequence_is_found_by_its_name_percent_encoded_or_not) {
    BOOST_TEST(told("/next-id/global_id_seq") == "0/1 single");
    BOOST_TEST(told("/next-id/orders") == "1/1 single");
    BOOST_TEST(told("/next-id/%6frders?count=2") == "1/2 ids");
    BOOST_TEST(told("/next-id/\"My%20Seq\"") == "2/1 single");
    BOOST_TEST(told("/next-id/%22My%20Seq%22") == "2/1 single");
    BOOST_TEST(told("/next-id/app.ids") == "3/1 single");
}

BOOST_AUTO_TEST_CASE(an_unknown_sequence_is_named_beside_those_there_are) {
    const std::string configured = ". Configured: global_id_seq, orders, \"My Seq\", app.ids";
    BOOST_TEST(told("/next-id/nope") == "404: no such sequence: 'nope'" + configured);
    BOOST_TEST(told("/next-id/Orders") == "404: no such sequence: 'Orders'" + configured);
    BOOST_TEST(told("/next-id/My+Seq") == "404: no such sequence: 'My+Seq'" + configured);
    BOOST_TEST(told("/next-id/orders/") == "404: no such sequence: 'orders/'" + configured);
    BOOST_TEST(told("/next-id/a%2Fb") == "404: no such sequence: 'a/b'" + configured);
    BOOST_TEST(told("/next-id/" + std::string(61, 'x')) ==
               "404: no such sequence: '" + std::string(60, 'x') + "...'" + configured);
}

BOOST_AUTO_TEST_CASE(an_unknown_path_is_told_where_ids_are) {
    for (const char* path : {"/", "/next-id/", "/next-ids", "/next-i", "/NEXT-ID", "//next-id", "/next-id%", "/next-id/%", "/next-id/%4",
                             "/next-id/%zz", "*", "/next%2Did", "/status"})
        BOOST_TEST(told(path) == "404: no such path: '" + std::string{path} + "'. IDs are at /next-id and /next-id/{sequence}");
}

BOOST_AUTO_TEST_CASE(a_count_that_is_none_is_refused_with_its_limit) {
    for (const char* count : {"0", "-1", "three", "", "1.0", "1e3", "0x10", " 3", "3 ", "10001", "99999999999999999999999", "18446744073709551616",
                              "18446744073709551615", "1,000"})
        BOOST_TEST(told("/next-id?count=" + std::string{count}) == count_refused(count, 10'000));
    BOOST_TEST(told("/next-id?count") == count_refused("", 10'000));
    BOOST_TEST(told("/next-id?count=+3") == count_refused(" 3", 10'000));
    BOOST_TEST(told("/next-id?count=%2B3") == count_refused("+3", 10'000));
    BOOST_TEST(told("/next-id?count=3%00") == count_refused(std::string{"3\0", 2}, 10'000));
    BOOST_TEST(told("/next-id?count=" + std::string(100, '9')) == count_refused(std::string(60, '9') + "...", 10'000));
}

BOOST_AUTO_TEST_CASE(a_count_reaches_the_limit_of_its_format_and_no_further) {
    BOOST_TEST(told("/next-id?count=10000") == "0/10000 ids");
    BOOST_TEST(told("/next-id?count=10000&format=text") == "0/10000 ids text");
    BOOST_TEST(told("/next-id?count=10001&format=text") == count_refused("10001", 10'000));
    BOOST_TEST(told("/next-id?count=10001&format=string") == count_refused("10001", 10'000));
    BOOST_TEST(told("/next-id?count=1000000&format=ranges") == "0/1000000 ranges");
    BOOST_TEST(told("/next-id?count=1000001&format=ranges") == count_refused("1000001", 1'000'000));
    BOOST_TEST(told("/next-id?count=1000001&format=string,ranges") == count_refused("1000001", 1'000'000));
    BOOST_TEST(told("/next-id?count=0007") == "0/7 ids");
}

BOOST_AUTO_TEST_CASE(no_request_asks_for_more_than_the_window_may_hold) {
    const Catalog small{{"s"}, 500};
    BOOST_TEST(told("/next-id?count=500", small) == "0/500 ids");
    BOOST_TEST(told("/next-id?count=501", small) == count_refused("501", 500));
    BOOST_TEST(told("/next-id?count=501&format=ranges", small) == count_refused("501", 500));
    BOOST_TEST(told("/next-id?count=20000&format=ranges", {{"s"}, 15'000}) == count_refused("20000", 15'000));
}

BOOST_AUTO_TEST_CASE(an_unknown_format_is_named) {
    for (const char* format : {"", "xml", "JSON", "ranges,ranges", "string,string", "ranges,", ",ranges", ",", "text,string", "json,ranges",
                               "ranges,string,ranges", "ranges;string", " json"})
        BOOST_TEST(told("/next-id?format=" + std::string{format}) ==
                   "400: unknown format '" + std::string{format} + "': there are json, string, text, ranges, and ranges,string");
}

BOOST_AUTO_TEST_CASE(an_unknown_parameter_is_named) {
    BOOST_TEST(told("/next-id?n=3") == "400: unknown parameter 'n': there are count and format");
    BOOST_TEST(told("/next-id?Count=3") == "400: unknown parameter 'Count': there are count and format");
    BOOST_TEST(told("/next-id?count=3&=1") == "400: unknown parameter '': there are count and format");
    BOOST_TEST(told("/next-id?" + std::string(70, 'x') + "=1") ==
               "400: unknown parameter '" + std::string(60, 'x') + "...': there are count and format");
}

BOOST_AUTO_TEST_CASE(a_parameter_that_is_given_twice_is_refused) {
    BOOST_TEST(told("/next-id?count=3&count=3") == "400: the parameter count is given twice");
    BOOST_TEST(told("/next-id?format=text&count=1&format=json") == "400: the parameter format is given twice");
    BOOST_TEST(told("/next-id?count=&count=") == "400: the parameter count is given twice");
}

BOOST_AUTO_TEST_CASE(a_query_that_cannot_be_decoded_is_refused) {
    BOOST_TEST(told("/next-id?count=%") == "400: the query has a % that is not followed by two hexadecimal digits");
    BOOST_TEST(told("/next-id?%zz") == "400: the query has a % that is not followed by two hexadecimal digits");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told_from_the_outside_in) {
    HttpRequest request = get("/nope?count=0&format=xml");
    request.method = Method::other;
    request.sec_fetch_site = "cross-site";
    BOOST_TEST(told(request) == "403: a page of another site may not take IDs through a browser");
    request.sec_fetch_site = "same-origin";
    BOOST_TEST(told(request).starts_with("404: no such path"));
    request.target = "/next-id/nope?count=0&format=xml";
    BOOST_TEST(told(request).starts_with("404: no such sequence"));
    request.target = "/next-id?count=0&format=xml";
    BOOST_TEST(told(request) == "405: IDs are taken with GET or POST");
    request.method = Method::get;
    BOOST_TEST(told(request).starts_with("400: unknown format"));
    request.target = "/next-id?count=0&format=ranges";
    BOOST_TEST(told(request) == count_refused("0", 1'000'000));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
