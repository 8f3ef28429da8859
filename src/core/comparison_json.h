// SPDX-License-Identifier: Apache-2.0
// The comparison as the result document and the comparison document hold it.
#pragma once

#include "core/document.h"
#include "stab/core/result.h"

namespace stab {

Json json_of(const Comparison& comparison);

}  // namespace stab
