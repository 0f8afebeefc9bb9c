#define BOOST_TEST_MODULE next_id
#include <boost/test/unit_test.hpp>
