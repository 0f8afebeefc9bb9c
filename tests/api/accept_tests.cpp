#include "sidecar/api/accept.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace next_id {

BOOST_AUTO_TEST_SUITE(accept_tests)

BOOST_AUTO_TEST_CASE(text_is_chosen_only_where_it_is_strictly_preferred) {
    struct Row {
        const char* accept;
        bool text;
    };
    for (const Row& row : {
             Row{"text/plain", true},
             Row{"Text/PLAIN", true},
             Row{"text/*", true},
             Row{"text/plain; charset=utf-8", true},
             Row{"text/plain;q=0.1", true},
             Row{"text/plain, application/json;q=0.9", true},
             Row{"application/json;q=0.9,text/plain", true},
             Row{"text/plain;q=0.8, */*;q=0.5", true},
             Row{"text/plain, */*;q=0.1", true},
             Row{"*/*, application/json;q=0.5", true},
             Row{"application/*;q=0.2, text/*;q=0.3", true},
             Row{"\ttext/plain \t;\t q=1.0 ", true},
             Row{"text/plain;q=0.002, application/json;q=0.001", true},

             Row{"", false},
             Row{"*/*", false},                                // curl
             Row{"application/json, text/plain, */*", false},  // axios
             Row{"text/plain, application/json", false},       // alike
             Row{"text/plain;q=0.5, application/json;q=0.5", false},
             Row{"application/json", false},
             Row{"application/*", false},
             Row{"text/plain;q=0.5, application/json", false},
             Row{"text/plain;q=0", false},
             Row{"text/plain;q=0, */*", false},
             Row{"text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", false},  // a browser
             Row{"text/html", false},
             Row{"image/png", false},
             // The most specific range decides, whatever stands first and whatever the others grant.
             Row{"text/plain;q=0.1, text/*, application/json;q=0.5", false},
             Row{"text/*, text/plain;q=0.1, application/json;q=0.5", false},
             Row{"*/*;q=1, text/*;q=0.9", false},
             Row{"text/*;q=0.9, */*;q=1", false},
         }) {
        BOOST_TEST(prefers_text(row.accept) == row.text, row.accept);
    }
}

BOOST_AUTO_TEST_CASE(garbage_means_json) {
    for (const char* garbage : {",",
                                ",,,",
                                ";",
                                ";q=1",
                                "text",
                                "text/",
                                "/plain",
                                "text/plainer",
                                "text/plain;q=",
                                "text/plain;q=x",
                                "text/plain;q=nan",
                                "text/plain;q=-1",
                                "text/plain;q=2",
                                "text/plain;q=1e9",
                                "q=1",
                                "text plain",
                                "=",
                                "\"",
                                "text/plain\"",
                                "*",
                                "*/plain",
                                "text/plain;q=inf"})
        BOOST_TEST(!prefers_text(garbage), garbage);
    BOOST_TEST(!prefers_text(std::string(8000, ',')));
    BOOST_TEST(!prefers_text(std::string(8000, ';')));
    BOOST_TEST(prefers_text("text/plain;;;q=1;"));
    BOOST_TEST(prefers_text(",,text/plain,,"));
}

BOOST_AUTO_TEST_CASE(html_is_for_browsers_and_not_for_who_takes_anything) {
    for (const char* accept : {"text/html", "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8",
                               "text/html;q=0.9, text/plain;q=0.8"})
        BOOST_TEST(prefers_html(accept), accept);
    for (const char* accept :
         {"", "*/*", "application/json", "text/*", "text/plain", "text/html;q=0", "text/html, application/json",
          "text/html, text/plain", "text/html;q=0.5, */*", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"})
        BOOST_TEST(!prefers_html(accept), accept);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
