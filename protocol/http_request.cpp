#include "protocol/range.h"
