#include "sidecar/api/browser.h"

#include <boost/test/unit_test.hpp>

namespace next_id {

BOOST_AUTO_TEST_SUITE(browser_tests)

BOOST_AUTO_TEST_CASE(only_another_site_is_foreign) {
    struct Row {
        const char *sec_fetch_site, *origin, *host;
        bool foreign;
    };
    for (const Row& row : {
             Row{"", "", "127.0.0.1:8080", false},  // no browser
             Row{"", "", "", false},
             Row{"none", "", "127.0.0.1:8080", false},  // typed into the address bar
             Row{"same-origin", "", "127.0.0.1:8080", false},
             Row{"same-site", "", "127.0.0.1:8080", false},
             Row{"same-origin", "http://127.0.0.1:8080", "127.0.0.1:8080", false},
             Row{"", "http://127.0.0.1:8080", "127.0.0.1:8080", false},
             Row{"", "https://ids.example.org", "ids.example.org", false},
             Row{"", "http://[::1]:8080", "[::1]:8080", false},

             Row{"cross-site", "", "127.0.0.1:8080", true},
             Row{"cross-site", "http://127.0.0.1:8080", "127.0.0.1:8080", true},
             Row{"", "https://evil.example", "127.0.0.1:8080", true},
             Row{"none", "https://evil.example", "127.0.0.1:8080", true},
             Row{"same-origin", "https://evil.example", "127.0.0.1:8080", true},
             Row{"", "null", "127.0.0.1:8080", true},  // a file, a sandbox
             Row{"", "null", "null", true},
             Row{"", "http://127.0.0.1:8081", "127.0.0.1:8080", true},
             Row{"", "http://127.0.0.1", "127.0.0.1:8080", true},
             Row{"", "http://127.0.0.1:8080.evil.example", "127.0.0.1:8080", true},
             Row{"", "http://evil.example", "", true},
             Row{"", "127.0.0.1:8080", "127.0.0.1:8080", true},
         }) {
        HttpRequest request;
        request.sec_fetch_site = row.sec_fetch_site;
        request.origin = row.origin;
        request.host = row.host;
        BOOST_TEST(is_cross_site(request) == row.foreign, row.sec_fetch_site << "|" << row.origin << "|" << row.host);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
