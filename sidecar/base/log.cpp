#include "sidecar/base/expected.h"
